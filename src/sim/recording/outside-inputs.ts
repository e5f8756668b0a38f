import type { StandardInput } from '../../protocol/input.ts'
import type { Runner } from '../../engine/loop/runner.ts'
import type { ChangeInput } from '../../world/changes.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { Input } from '../../world/input.ts'
import { redo } from '../../world/inspection.ts'
import type { World } from '../../world/world.ts'

/** Inputs that Runners and parents post. */
const ownKinds: ReadonlySet<string> = new Set([
  'admitted',
  'due',
  'granted',
  'handle-kept',
  'outcome',
  'session-spent',
  'session-stopped',
  'started',
  'subtask-spent',
])

/** Posts again what users and programs posted in a recorded run. */
export class OutsideInputs {
  readonly #isThere: boolean
  readonly #runner: () => Runner | undefined
  /** Sent and not committed, by id: sent again after a crash. */
  readonly #sent = new Map<string, Input>()
  #left = 0
  #quiet: PromiseWithResolvers<void> | undefined

  /** @param isThere false: simulated users act instead @param runner of the root world, while there is one */
  constructor(isThere: boolean, runner: () => Runner | undefined) {
    this.#isThere = isThere
    this.#runner = runner
  }

  /** Whether an input is from outside. Parents post to sessions; a user's answer is routed through the root. */
  has({ kind }: Input, isRoot: boolean): boolean {
    return this.#isThere && (kind === 'answer' || (isRoot && !ownKinds.has(kind)))
  }

  get isBusy(): boolean {
    return this.#left > 0
  }

  /** Resolves once every expected input is committed. */
  async quiet(): Promise<void> {
    if (this.isBusy) await (this.#quiet ??= Promise.withResolvers<void>()).promise
  }

  expect(count: number): void {
    this.#left += count
  }

  resume(): void {
    for (const [id, input] of this.#sent) void this.#post(id, input, false)
  }

  /** @param id posts it once, unless it is posted exactly as recorded @param done called after its commit */
  send(id: string, input: Input, asRecorded: boolean, done?: () => void): void {
    this.#sent.set(id, input)
    void this.#post(id, input, asRecorded, done)
  }

  async #post(id: string, input: Input, asRecorded: boolean, done?: () => void): Promise<void> {
    const runner = this.#runner()
    // The next process takes it.
    if (runner === undefined) return
    try {
      if (input.kind !== 'change') await runner.post(input as StandardInput, asRecorded ? {} : { id })
      // A change names entities: in a world that diverged they may be others.
      else if (asRecorded) await runner.change((world) => change(world, input as ChangeInput))
    } catch (error) {
      if (error instanceof EntiaError && (error.code === 'store-failed' || error.code === 'world-driven')) return
    }
    if (!this.#sent.delete(id)) return
    this.#left--
    done?.()
    if (this.isBusy) return
    this.#quiet?.resolve()
    this.#quiet = undefined
  }
}

function change(world: World, { header: { ids, next, random }, ...changes }: ChangeInput): void {
  redo(world, changes, { ids, next, random })
}
