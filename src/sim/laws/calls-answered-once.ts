import { OwnedBy } from '../../../components/effects/effect.ts'
import { Reported, ToolCall } from '../../../components/agent/tool-call.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Law, WatchedTick } from '../law.ts'
import { Conversations, conversationsConcern, type Reading } from './conversations.ts'

export const callsAnsweredOnce: Law = {
  concern: { ...conversationsConcern, set: [...conversationsConcern.set, Reported, ToolCall] },
  name: 'calls-answered-once',
  meaning: 'Each tool call of a message is answered exactly once, and all are by the end of the turn.',
  watch(run) {
    const conversations = run.shared(Conversations)
    const byWorld = new Map<string, Calls>()
    return {
      began({ world }) {
        const reading = conversations.began(world)
        const calls = new Calls(world, conversations)
        byWorld.set(world.name, calls)
        return twice(reading) ?? calls.unlike(reading.touched)
      },
      ticked(tick) {
        const reading = conversations.ticked(tick)
        return twice(reading) ?? byWorld.get(tick.world.name)?.ticked(tick, reading)
      },
    }
  },
}

function twice({ faults }: Reading): Finding {
  if (faults.length === 0) return undefined
  const fault = faults.find(({ kind }) => kind === 'twice')
  return fault && `in the conversation of agent ${fault.agent}, ${fault.problem}`
}

class Calls {
  readonly #conversations: Conversations
  #world: World
  readonly #agents = new Map<Entity, Entity>()
  readonly #counts = new Map<Entity, number>()
  /** Calls whose result was emitted, and waits for those of earlier calls: by entity, as `nameOf` names them. */
  readonly #reported = new Map<Entity, string>()

  constructor(world: World, conversations: Conversations) {
    this.#world = world
    this.#conversations = conversations
    for (const call of world.entitiesWith(ToolCall)) this.#add(call, [])
    for (const call of world.entitiesWith(Reported)) this.#report(call)
  }

  ticked(tick: WatchedTick, { touched }: Reading): Finding {
    this.#world = tick.world
    const { despawned } = tick.step.delta
    const inEvents = this.#inEvents(tick)
    if (inEvents !== undefined) return inEvents
    for (const [call] of tick.changes.of(Reported).set) this.#report(call)
    const changed: Entity[] = []
    for (const [call] of tick.changes.of(ToolCall).set) this.#add(call, changed)
    if (despawned !== undefined) for (const entity of despawned) this.#remove(entity, changed)
    if (changed.length === 0 && touched.length === 0) return undefined
    return this.unlike(touched) ?? this.unlike(changed)
  }

  /** The calls without a result are as many as the calls in flight. */
  unlike(agents: Iterable<Entity>): Finding {
    for (const agent of agents) {
      const open = this.#conversations.open(this.#world, agent)
      const count = this.#counts.get(agent) ?? 0
      if (open.length === count || !this.#world.exists(agent)) continue
      if (open.length > count)
        return `call '${open[0]}' of agent ${agent} has no result, and nothing is left that brings it`
      return `agent ${agent} has ${count} calls under way, and ${open.length} that have no result`
    }
    return undefined
  }

  /** When a turn ends all calls are answered, and no call is reported as answered twice. */
  #inEvents({ step }: WatchedTick): Finding {
    let answered: Set<string> | undefined
    for (const event of step.events) {
      const { type } = event
      if (type !== 'turn-ended' && type !== 'tool-answered') continue
      const agent = event['agent'] as Entity
      if (type === 'turn-ended') {
        const [open] = this.#conversations.open(this.#world, agent)
        if (open !== undefined) return `the turn of agent ${agent} has ended, and call '${open}' was never answered`
      } else {
        answered ??= new Set(this.#reported.values())
        const id = event['callId'] as string
        const call = nameOf(agent, id)
        if (answered.has(call)) return `call '${id}' of agent ${agent} was reported as answered twice`
        answered.add(call)
      }
    }
    return undefined
  }

  #report(call: Entity): void {
    const agent = this.#world.get(call, OwnedBy)?.agent
    const id = this.#world.get(call, ToolCall)?.callId
    if (agent !== undefined && id !== undefined) this.#reported.set(call, nameOf(agent, id))
  }

  /** @param changed collects the agent that called */
  #add(call: Entity, changed: Entity[]): void {
    const agent = this.#world.get(call, OwnedBy)?.agent
    if (agent === undefined || this.#agents.has(call)) return
    this.#agents.set(call, agent)
    this.#counts.set(agent, (this.#counts.get(agent) ?? 0) + 1)
    changed.push(agent)
  }

  #remove(call: Entity, changed: Entity[]): void {
    const agent = this.#agents.get(call)
    if (agent === undefined) return
    this.#agents.delete(call)
    this.#reported.delete(call)
    this.#counts.set(agent, (this.#counts.get(agent) ?? 0) - 1)
    changed.push(agent)
  }
}

function nameOf(agent: Entity, callId: string): string {
  return `${agent} ${callId}`
}
