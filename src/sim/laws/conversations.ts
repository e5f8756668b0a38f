import { Conversation } from '../../../components/agent/conversation.ts'
import type { Entity } from '../../world/component.ts'
import type { DrivenStep } from '../../engine/effects/host-seams.ts'
import type { World } from '../../world/world.ts'
import type { WatchedTick } from '../law.ts'
import type { Concern } from '../tick-changes.ts'
import type { Message } from '../../protocol/message.ts'
import type { LogEdit } from '../../world/changes.ts'

export const conversationsConcern = {
  set: [Conversation],
  appended: [Conversation],
  spliced: [Conversation],
  removed: [Conversation],
  despawned: true,
} satisfies Concern

interface ConversationFault extends Fault {
  readonly agent: Entity
}

export interface Reading {
  readonly touched: readonly Entity[]
  readonly faults: readonly ConversationFault[]
}

const nothingRead: Reading = { touched: [], faults: [] }

/** The conversations of all worlds of a run, shared by its laws so that each tick is read once. */
export class Conversations {
  readonly #byWorld = new Map<string, Map<Entity, ConversationReader>>()
  #step: DrivenStep | World | undefined
  #reading: Reading = nothingRead

  /** Calls in an agent's last message without a result. */
  open({ name }: World, agent: Entity): readonly string[] {
    return this.#byWorld.get(name)?.get(agent)?.open ?? []
  }

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

  ticked(tick: WatchedTick): Reading {
    if (this.#step === tick.step) return this.#reading
    this.#step = tick.step
    return (this.#reading = this.#read(tick))
  }

  #read({ changes, world, step }: WatchedTick): Reading {
    const readers = this.#byWorld.get(world.name)
    if (readers === undefined) return nothingRead
    const { appended, removed, set, spliced } = changes.ofLog(Conversation)
    const { despawned } = step.delta
    for (const agent of removed) readers.delete(agent)
    if (despawned !== undefined) for (const entity of despawned) readers.delete(entity)
    if (set.length === 0 && appended.length === 0 && spliced.length === 0) return nothingRead
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

interface Fault {
  /** `twice`: a second result of one call. */
  readonly kind: 'twice' | 'misplaced'
  readonly problem: string
}

/**
 * Tracks which calls of the newest assistant message lack a result. Costs what is new; an edit is reread from the
 * assistant message before it to the one after it.
 */
class ConversationReader {
  #calls: readonly string[] = []
  #open: readonly string[] = []
  #isBehind = true
  #length = 0

  get open(): readonly string[] {
    return this.#open
  }

  readAll(messages: readonly Message[]): Fault | undefined {
    return this.#readFrom(messages, 0, messages.length)
  }

  readMore(items: readonly Message[]): Fault | undefined {
    this.#length += items.length
    let first: Fault | undefined
    for (const message of items) {
      const fault = this.#read(message)
      first ??= fault
    }
    return first
  }

  /** @param messages after the edits */
  readEdits(messages: readonly Message[], edits: readonly LogEdit[]): Fault | undefined {
    let first = Infinity
    let untouched = Infinity
    let length = this.#length
    for (const [from, deleteCount, items] of edits) {
      first = Math.min(first, from)
      untouched = Math.min(untouched, length - from - deleteCount)
      length += items.length - deleteCount
    }
    let start = Math.min(first, messages.length)
    while (start > 0 && messages[start - 1]?.role !== 'assistant') start--
    return this.#readFrom(messages, Math.max(0, start - 1), messages.length - untouched)
  }

  /** @param untouched index from which nothing changed: what is known of the end still holds */
  #readFrom(messages: readonly Message[], start: number, untouched: number): Fault | undefined {
    const [calls, open, isBehind] = [this.#calls, this.#open, this.#isBehind]
    this.#length = messages.length
    this.#calls = this.#open = none
    this.#isBehind = true
    let first: Fault | undefined
    for (let index = start; index < messages.length; index++) {
      const message = messages[index] as Message
      const fault = this.#read(message)
      first ??= fault
      if (index < untouched || message.role !== 'assistant') continue
      this.#calls = calls
      this.#open = open
      this.#isBehind = isBehind
      break
    }
    return first
  }

  #read(message: Message): Fault | undefined {
    if (message.role === 'tool') return this.#readResult(message.callId)
    if (message.role !== 'assistant') {
      this.#isBehind = true
      return undefined
    }
    const [open] = this.#open
    if (open !== undefined) {
      return { kind: 'misplaced', problem: `the model spoke again before call '${open}' had its result` }
    }
    const calls = idsOf(message)
    this.#calls = calls
    this.#open = calls
    this.#isBehind = false
    return undefined
  }

  #readResult(id: string): Fault | undefined {
    const place = this.#open.indexOf(id)
    if (place === -1 && this.#calls.includes(id)) return { kind: 'twice', problem: `call '${id}' has two results` }
    const problem = this.#problemOf(id, place)
    if (place !== -1) this.#open = this.#open.toSpliced(place, 1)
    return problem === undefined ? undefined : { kind: 'misplaced', problem }
  }

  #problemOf(id: string, place: number): string | undefined {
    if (place === -1) return `a result stands there for '${id}', which the model has not called`
    if (place > 0) return `the result of call '${id}' stands before that of '${this.#open[0]}', which was called first`
    return this.#isBehind ? `the result of call '${id}' stands apart from the message that called it` : undefined
  }
}

const none: readonly string[] = []

function idsOf({ content }: Extract<Message, { role: 'assistant' }>): readonly string[] {
  const ids: string[] = []
  for (const block of content) if (block.type === 'tool-call') ids.push(block.id)
  return ids.length === 0 ? none : ids
}
