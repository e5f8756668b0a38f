import { SessionPool, standardSystems, type Store, VirtualClock, World } from 'entia'
import * as components from 'entia/components'
import { driven, type Driven, reopened, turns } from '../turns/driving.ts'
import { type CommittedTick, mortalStore, watchedStore } from '../stores/watched-store.ts'
import { type SleepyTeam, sleepyTeam } from './sleepy-team.ts'
import { type Team, type TeamOptions, taskOf } from './team.ts'

/** A team whose process may die. */
export interface DyingTeam extends SleepyTeam {
  /** Ends the process: nothing more is written, and its lock is free. */
  readonly die: () => Promise<void>
  /** Resolves when it is dead. */
  readonly dead: Promise<void>
}

export interface DyingOptions extends Omit<TeamOptions, 'lead'> {
  /** Outlives the process. */
  readonly kept: Store
  /** The process dies before the first commit of a tick that is so. @default none is */
  readonly diesBefore?: (tick: CommittedTick) => boolean
}

/** A team as `sleepyTeam` makes it, in a process that may die. */
export function dyingTeam(
  replies: Parameters<typeof sleepyTeam>[0],
  { kept, diesBefore = () => false, ...options }: DyingOptions,
): DyingTeam {
  const { store: mortal, die } = mortalStore(kept)
  const { promise: dead, resolve } = Promise.withResolvers<void>()
  const end = async (): Promise<void> => {
    die()
    await turns()
    resolve()
  }
  const before = async (ticks: readonly CommittedTick[]): Promise<void> => {
    if (!ticks.some(diesBefore)) return
    await end()
    await new Promise<never>(() => undefined)
  }
  const store = watchedStore(mortal, { before })
  const made = sleepyTeam(replies, { ...options, isMortal: true, runner: { ...options.runner, store } })
  return { ...made, die: end, dead }
}

/** A team's world as a store has it, under a Runner of another process; not started. */
export function fromStore(
  kept: Store,
  made: Team,
  sessionPool = new SessionPool(),
  clock = new VirtualClock(),
): Promise<Driven> {
  return reopened(kept, { ...made.options, clock, sessionPool })
}

/** A team's world as it is saved in one file now, under a Runner elsewhere that has no store; not started. */
export function fromFile(made: Team, sessionPool = new SessionPool(), clock = new VirtualClock()): Driven {
  const world = World.restore(made.world.snapshot(), { systems: standardSystems(), components })
  const { store: _, ...options } = made.options
  return driven(world, { ...options, clock, sessionPool })
}

/** Drives a world until nothing is in flight and nothing is due. */
export async function finished({ runner }: Driven): Promise<void> {
  await runner.start()
  await runner.idle()
}

/** The worker's model calls so far: for each task, how many messages each request had. */
export function askedByTask(made: Team): Record<string, number[]> {
  const byTask: Record<string, number[]> = {}
  for (const { request } of made.asked('worker')) (byTask[taskOf(request)] ??= []).push(request.messages.length)
  return byTask
}
