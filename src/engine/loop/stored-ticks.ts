import type { Message } from '../../protocol/message.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { ToolCall } from '../../../components/agent/tool-call.ts'
import { reportedCalls } from '../../rules/projection/call-result.ts'
import { refuseLostParts } from './lost-parts.ts'
import type { StoredWorld } from '../../stores/port.ts'
import type { Component, Entity } from '../../world/component.ts'
import type { WorldEvent } from '../../world/input.ts'
import type { JournalCodec, Step } from '../../world/journal.ts'
import { type OpenedSnapshot, openLines } from '../../world/joint.ts'
import type { Json } from '../../base/json.ts'
import { savedVersions } from '../../world/restore.ts'
import { type System, World } from '../../world/world.ts'

export interface Found {
  readonly world: World
  /** Events of the newest tick, which may not have been emitted. */
  readonly lastEvents: readonly WorldEvent[]
}

export interface RestoreOptions {
  readonly systems: readonly System[]
  readonly components: Iterable<Component>
  /** For a copy under another name. @default as it is stored */
  readonly name?: string | undefined
}

export interface Restored extends Found {
  /** Decodes the rows behind these. */
  readonly codec: JournalCodec
  /** Values of older versions were migrated: its journal goes on from a new snapshot. */
  readonly isMigrated: boolean
  readonly journalBytes: number
  readonly snapshotBytes: number
  readonly snapshotTick: number
}

const damaged =
  'What is stored was changed by something other than a Runner, or is cut. Nothing was opened: restore the store from a copy.'

/** A world from what a store has of it. @throws `corrupt-journal`, `corrupt-snapshot`, and what restoring throws */
export function restored(name: string, stored: StoredWorld, options: RestoreOptions): Restored {
  const { lines, codec, events, head } = openSnapshot(stored)
  const steps: Step[] = stored.rows.map(({ tick, line }) =>
    codec.decode(line, `journal of world '${name}', tick ${tick}`),
  )
  const deltas = steps.map((step) => step.delta)
  const world = World.restore(lines, { ...options, deltas })
  const isOfJournal = steps.length > 0
  refuseLostParts(world, isOfJournal ? 'corrupt-journal' : 'corrupt-snapshot', damaged)
  const saved = Object.entries(savedVersions(head, deltas))
  return {
    world,
    lastEvents: withContent(world, steps.at(-1)?.events ?? events),
    codec,
    isMigrated: saved.some(([component, version]) => world.core.token(component).version > version),
    journalBytes: stored.rows.reduce((sum, { line }) => sum + line.length, 0),
    snapshotBytes: lines.reduce((sum, line) => sum + line.length, 0),
    snapshotTick: stored.snapshot.tick,
  }
}

/** Reads a stored snapshot; the codec decodes the rows behind it. @throws `corrupt-snapshot`, `newer-version` */
export function openSnapshot({ snapshot }: StoredWorld): OpenedSnapshot {
  return openLines(snapshot.lines)
}

/** The field, by event type, whose content is in the agent's conversation, or in the call, as well. */
const contentFields: Readonly<Record<string, string>> = { 'tool-answered': 'result', 'tool-called': 'arguments' }

/** Events as stored: content that the world has already is left out, and found again by the id of the call. */
export function withoutContent(events: readonly WorldEvent[]): readonly WorldEvent[] {
  return events.some(({ type }) => Object.hasOwn(contentFields, type)) ? events.map(withoutContentOf) : events
}

export function withoutContentOf(event: WorldEvent): WorldEvent {
  const field = Object.hasOwn(contentFields, event.type) ? contentFields[event.type] : undefined
  if (field === undefined || !Object.hasOwn(event, field)) return event
  const { [field]: _, ...brief } = event
  return brief as WorldEvent
}

/** Stored events of a world's newest tick, with their content. */
export function withContent(world: World, events: readonly WorldEvent[]): readonly WorldEvent[] {
  return events.map((event) => {
    if (event.type === 'tool-called') return { ...event, arguments: argumentsOf(world, event) }
    return event.type === 'tool-answered' ? { ...event, result: answerOf(world, event) } : event
  })
}

function argumentsOf(world: World, { agent, callId, effect }: WorldEvent): Json {
  const call = world.exists(effect as Entity) ? world.get(effect as Entity, ToolCall) : undefined
  if (call?.callId === callId) return call?.arguments as Json
  for (const message of newestFirst(world, agent as Entity)) {
    if (message.role !== 'assistant') continue
    for (const block of message.content) if (block.type === 'tool-call' && block.id === callId) return block.arguments
  }
  return {}
}

function answerOf(world: World, event: WorldEvent): Json {
  const agent = event['agent'] as Entity
  const callId = event['callId']
  const reported = world.exists(agent) ? reportedCalls(world, agent) : []
  const waiting = reported.find((call) => call.callId === callId)
  if (waiting !== undefined) return [...waiting.content]
  for (const message of newestFirst(world, agent)) {
    if (message.role === 'tool' && message.callId === callId) return message.content
  }
  return []
}

/** Newest first, since ids of calls may repeat in later turns. */
function* newestFirst(world: World, agent: Entity): Generator<Message> {
  const messages = (world.exists(agent) ? world.get(agent, Conversation) : undefined) ?? []
  for (let index = messages.length - 1; index >= 0; index--) yield messages[index] as Message
}
