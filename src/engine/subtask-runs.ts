import { CostCeiling } from '../../components/cost-ceiling.ts'
import type { Failure } from '../../components/failure.ts'
import { Subtask, type SubtaskData, type SubtaskSpending } from '../../components/subtask.ts'
import { SubtaskAccount } from '../../components/subtask-account.ts'
import { ceilingMessage } from '../context/ceiling-message.ts'
import { nothingSpent, subtaskSpending } from '../context/subtask-spending.ts'
import type { World } from '../world/world.ts'
import { agentOf } from './child-run.ts'
import type { ChildWorlds } from './child-worlds.ts'
import { entered } from './entered.ts'
import type { Enter } from './inbox.ts'

/** What the subtasks of a Runner's world are run with. */
export interface SubtaskRunsParts {
  readonly world: World
  readonly worlds: ChildWorlds
  /** All ticks of all worlds are kept. */
  readonly isRecorded: boolean
  /** Has a World, once nobody else does, until the function that this gives is called. */
  readonly claim: (name: string) => Promise<() => void>
  readonly enter: Enter
}

/** The subtasks of one world, as far as they concern it beyond their own Worlds. */
export class SubtaskRuns {
  readonly #parts: SubtaskRunsParts
  /** Those that go on from where they were left, and may not be driven yet. */
  readonly #expected = new Set<string>()

  constructor(parts: SubtaskRunsParts) {
    this.#parts = parts
  }

  get expected(): Iterable<string> {
    return this.#expected
  }

  expect(subtaskId: string): void {
    this.#expected.add(subtaskId)
  }

  gone(subtaskId: string): void {
    this.#expected.delete(subtaskId)
  }

  /** Removes the World of a subtask that nobody needs any more, unless all is to be kept. What cannot be removed stays. */
  discard(subtaskId: string): void {
    // Until the last of its spending is told, nothing else knows of that.
    if (this.#parts.isRecorded || this.#accounts().includes(subtaskId)) return
    this.#remove(subtaskId).catch(() => undefined)
  }

  /**
   * Tells what a subtask has spent so far, and asks whether its next call may begin, once that is committed. What keeps it
   * from that is given; nothing: it may.
   */
  async mayCall({ agent, subtaskId }: SubtaskData, spent: SubtaskSpending): Promise<Failure | undefined> {
    await entered(this.#parts.enter, { kind: 'subtask-spent', spent, subtaskId })
    const ceiling = this.#parts.world.get(agent, CostCeiling)
    return ceiling && { kind: 'budget-spent', message: ceilingMessage(ceiling) }
  }

  /** Tells the last of what a subtask has spent that was called off. Once that is committed, its World goes. */
  callOff({ request, subtaskId }: Pick<SubtaskData, 'request' | 'subtaskId'>, spent: SubtaskSpending): void {
    const told = { kind: 'subtask-spent' as const, isOver: true as const, spent, subtaskId }
    const committed = entered(this.#parts.enter, request === undefined ? told : { ...told, request })
    const discard = (isCommitted: boolean): void => {
      if (isCommitted) this.discard(subtaskId)
    }
    // A Runner that has failed tells so itself.
    committed.then(discard, () => undefined)
  }

  /** Tells of subtasks that were called off by a process that ended before it could tell what they had spent. */
  tellUntold(): void {
    const { world } = this.#parts
    const { state } = world.core
    const running = new Set(state.holders(Subtask).map((effect) => world.read(effect, Subtask).subtaskId))
    for (const subtaskId of this.#accounts()) if (!running.has(subtaskId)) void this.#tell(subtaskId)
  }

  /** Subtasks of which more may be to come. */
  #accounts(): readonly string[] {
    const { world } = this.#parts
    return world.core.state.holders(SubtaskAccount).map((account) => world.read(account, SubtaskAccount).subtaskId)
  }

  async #tell(subtaskId: string): Promise<void> {
    const release = await this.#parts.claim(subtaskId)
    try {
      const world = await this.#parts.worlds.look(subtaskId).catch(() => undefined)
      this.callOff({ subtaskId }, world === undefined ? nothingSpent : subtaskSpending(world, agentOf(world)))
    } finally {
      release()
    }
  }

  async #remove(subtaskId: string): Promise<void> {
    const release = await this.#parts.claim(subtaskId)
    try {
      await this.#parts.worlds.remove(subtaskId)
    } finally {
      release()
    }
  }
}
