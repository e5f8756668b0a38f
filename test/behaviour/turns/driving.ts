import {
  agent,
  type AgentOptions,
  type Entity,
  type EventsByType,
  type ModelProvider,
  type ModelRequest,
  Runner,
  type RunnerEvent,
  type RunnerOptions,
  type ScriptedBehaviour,
  scripted,
  standardSystems,
  type Store,
  VirtualClock,
  World,
} from 'entia'
import * as components from 'entia/components'
import { onTestFinished } from 'vitest'

/** A world under a Runner, and all that it has told so far. */
export interface Driven {
  readonly world: World
  readonly runner: Runner
  readonly events: RunnerEvent[]
  /** Resolves with the next event of a type. */
  readonly next: <K extends keyof EventsByType>(type: K) => Promise<{ readonly type: K } & EventsByType[K]>
  /** The events of a type so far. */
  readonly told: <K extends keyof EventsByType>(type: K) => ({ readonly type: K } & EventsByType[K])[]
}

/** A Runner on a clock that jumps, not started; stopped when the test is over. */
export function driven(world: World, options: RunnerOptions = {}): Driven {
  const made = mortal(world, options)
  onTestFinished(() => made.runner.stop())
  return made
}

/** A Runner like that, in a process that may end before it is stopped. */
export function mortal(world: World, options: RunnerOptions = {}): Driven {
  const clock = options.host === undefined ? { clock: new VirtualClock() } : {}
  return watched(new Runner(world, { ...clock, ...options }))
}

/** The world of that name in a store, under a Runner on a clock that jumps; not started. */
export async function reopened(store: Store, options: RunnerOptions = {}, name = 'world'): Promise<Driven> {
  const found = { store, name, systems: standardSystems(), components }
  const runner = await Runner.open({ clock: new VirtualClock(), ...options, ...found })
  onTestFinished(() => runner.stop())
  return watched(runner)
}

function watched(runner: Runner): Driven {
  const events: RunnerEvent[] = []
  runner.on('*', (event) => void events.push(event))
  return {
    world: runner.world,
    runner,
    events,
    next: (type) => new Promise((resolve) => void runner.on(type, resolve)),
    told: <K extends keyof EventsByType>(type: K) =>
      events.filter((event): event is RunnerEvent & { readonly type: K } & EventsByType[K] => event.type === type),
  }
}

/** Runs a world until nothing is in flight and nothing is due. */
export async function settled(world: World, options: RunnerOptions = {}): Promise<Driven> {
  const made = driven(world, options)
  await made.runner.start()
  await made.runner.idle()
  await made.runner.stop()
  return made
}

export function emptyWorld(name = 'world'): World {
  return new World({ name, systems: standardSystems() })
}

/** A world with one agent, that was told to go. */
export function worldWith(options: Partial<AgentOptions> = {}, name = 'world'): { world: World; agent: Entity } {
  const world = emptyWorld(name)
  return { world, agent: addAgent(world, options) }
}

export function addAgent(world: World, options: Partial<AgentOptions> = {}): Entity {
  return world.spawn(...agent({ model: 'scripted/x', messages: 'Go', ...options }))
}

/** The provider `scripted`, and every request that was made of it. */
export function behaving(
  behaviour: ScriptedBehaviour,
  options: Parameters<typeof scripted>[1] = {},
): { readonly models: { readonly scripted: ModelProvider }; readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  const model = scripted((request, context) => {
    requests.push(request)
    return behaviour(request, context)
  }, options)
  return { models: { scripted: model }, requests }
}

/** Asks for these tools first of all, and says `Done.` ever after. */
export function calling(
  ...toolCalls: readonly { readonly name: string; readonly arguments?: object | string }[]
): ScriptedBehaviour {
  return ({ messages }) =>
    messages.some(({ role }) => role === 'assistant') ? 'Done.' : { toolCalls: toolCalls as never }
}

/** Something that a test opens and others wait for. */
export function gate<T = void>(): PromiseWithResolvers<T> {
  return Promise.withResolvers<T>()
}

/** What a promise rejects with, whenever that is looked at. */
export function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'it did not reject',
    (reason: unknown) => reason,
  )
}

/** Lets everything go on that can go on by itself. */
export async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}
