import type { StandardInput } from '../../protocol/input.ts'
import type { Runner } from '../../engine/loop/runner.ts'
import type { ChangeInput } from '../../world/changes.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { Input } from '../../world/input.ts'
import { redo } from '../../world/inspection.ts'
import type { World } from '../../world/world.ts'

/** What comes of worlds themselves: of their Runners, and of their parents. */
const ownKinds: ReadonlySet<string> = new Set([
  'admitted',
  'due',
  'granted',
  'outcome',
  'session-spent',
  'session-stopped',
  'started',
  'subtask-spent',
])

/** What users and programs brought into a recorded run, brought in once more. */
export class OutsideInputs {
  readonly #isThere: boolean
  readonly #runner: () => Runner | undefined
  /** What was sent and is not committed yet, by its id: after a crash it is sent again. */
  readonly #sent = new Map<string, Input>()
  #left = 0
  #quiet: PromiseWithResolvers<void> | undefined

  /**
   * @param isThere false: simulated users act instead
   * @param runner of the root world, while there is one
   */
  constructor(isThere: boolean, runner: () => Runner | undefined) {
    this.#isThere = isThere
    this.#runner = runner
  }

  /** Does such an input come from outside? Sessions get theirs from their parents; a user's answer finds its world from the root. */
  has({ kind }: Input, isRoot: boolean): boolean {
    return this.#isThere && (kind === 'answer' || (isRoot && !ownKinds.has(kind)))
  }

  /** Is something to come? */
  get isBusy(): boolean {
    return this.#left > 0
  }

  /** Resolves once nothing is. */
  async quiet(): Promise<void> {
    if (this.isBusy) await (this.#quiet ??= Promise.withResolvers<void>()).promise
  }

  /** So many are to be sent. */
  expect(count: number): void {
    this.#left += count
  }

  /** A process has died, and another one is there. */
  resume(): void {
    for (const [id, input] of this.#sent) void this.#post(id, input, false)
  }

  /**
   * @param id under which it goes in once, unless it is to go in just as it was recorded
   * @param done called once it is committed
   */
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
      // A change is known by its entities: in a world that went another way they may be others.
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
