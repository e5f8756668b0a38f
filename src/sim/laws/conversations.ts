import { Conversation } from '../../../components/agent/conversation.ts'
import type { Entity } from '../../world/component.ts'
import type { DrivenStep } from '../../engine/effects/host-seams.ts'
import type { World } from '../../world/world.ts'
import type { WatchedTick } from '../law.ts'
import type { Concern } from '../tick-changes.ts'
import { ConversationReader, type Fault } from './conversation-reader.ts'

/** The ticks that have to do with conversations: those as well in which they go with their agents. */
export const conversationsConcern = {
  set: [Conversation],
  appended: [Conversation],
  spliced: [Conversation],
  removed: [Conversation],
  despawned: true,
} satisfies Concern

/** What is wrong with an agent's conversation. */
export interface ConversationFault extends Fault {
  readonly agent: Entity
}

/** What a tick has done to conversations. */
export interface Reading {
  /** Agents whose conversations it has touched. */
  readonly touched: readonly Entity[]
  readonly faults: readonly ConversationFault[]
}

const untouched: Reading = { touched: [], faults: [] }

/** The conversations of a run's worlds, read as they grow. The laws of a run share them: each tick is read once. */
export class Conversations {
  readonly #byWorld = new Map<string, Map<Entity, ConversationReader>>()
  #step: DrivenStep | World | undefined
  #reading: Reading = untouched

  /** Calls in an agent's last message that have no result yet. */
  open({ name }: World, agent: Entity): readonly string[] {
    return this.#byWorld.get(name)?.get(agent)?.open ?? []
  }

  /** A world is taken up: its conversations are read from the beginning. */
  began(world: World): Reading {
    if (this.#step === world) return this.#reading
    this.#step = world
    const readers = new Map<Entity, ConversationReader>()
    this.#byWorld.set(world.name, readers)
    const touched = world.entitiesWith(Conversation)
    const faults: ConversationFault[] = []
    for (const agent of touched) {
      note(agent, this.#reader(readers, agent).readAll(world.read(agent, Conversation)), [], faults)
    }
    return (this.#reading = { touched, faults })
  }

  /** A tick is committed: what it has said is read. */
  ticked(tick: WatchedTick): Reading {
    if (this.#step === tick.step) return this.#reading
    this.#step = tick.step
    return (this.#reading = this.#read(tick))
  }

  #read({ changes, world, step }: WatchedTick): Reading {
    const readers = this.#byWorld.get(world.name)
    if (readers === undefined) return untouched
    const { appended, removed, set, spliced } = changes.ofLog(Conversation)
    const { despawned } = step.delta
    for (const agent of removed) readers.delete(agent)
    if (despawned !== undefined) for (const entity of despawned) readers.delete(entity)
    if (set.length === 0 && appended.length === 0 && spliced.length === 0) return untouched
    const touched: Entity[] = []
    const faults: ConversationFault[] = []
    for (const [agent, messages] of set) {
      note(agent, this.#reader(readers, agent).readAll(messages), touched, faults)
    }
    for (const [agent, items] of appended) {
      note(agent, this.#reader(readers, agent).readMore(items), touched, faults)
    }
    for (const [agent, edits] of spliced) {
      const fault = this.#reader(readers, agent).readEdits(world.read(agent, Conversation), edits)
      note(agent, fault, touched, faults)
    }
    return { touched, faults }
  }

  #reader(readers: Map<Entity, ConversationReader>, agent: Entity): ConversationReader {
    let reader = readers.get(agent)
    if (reader === undefined) readers.set(agent, (reader = new ConversationReader()))
    return reader
  }
}

function note(agent: Entity, fault: Fault | undefined, touched: Entity[], faults: ConversationFault[]): void {
  touched.push(agent)
  if (fault !== undefined) faults.push({ ...fault, agent })
}
