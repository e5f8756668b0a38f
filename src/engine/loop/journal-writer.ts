import { Effect } from '../../../components/effects/effect.ts'
import { Conversation, Unread } from '../../../components/agent/conversation.ts'
import type { Batch, LostTicks, Store, StoredWorld, WorldJournal } from '../../stores/port.ts'
import type { Component, Entity } from '../../world/component.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { WorldEvent } from '../../world/input.ts'
import { JournalCodec, type Step } from '../../world/journal.ts'
import { readHead, savedVersions } from '../../world/restore.ts'
import { canonicalRead, parsedLine, shaped } from '../../world/saved-shapes.ts'
import type { SnapshotEnd, SnapshotHead } from '../../world/snapshot.ts'
import { version as present } from '../../world/version.ts'
import { type System, World } from '../../world/world.ts'
import type { Message } from '../../protocol/message.ts'
import { ToolCall } from '../../../components/agent/tool-call.ts'
import type { Json } from '../../world/json.ts'

/** A journal this long, and this many times longer than the newest snapshot, is replaced by a new snapshot. */
const minCompactionBytes = 1_000_000
const compactionFactor = 2

export interface JournalOptions {
  readonly store: Store
  /** Keep all ticks, so that the run can be replayed. @default false */
  readonly record?: boolean | undefined
  /** The root world whose database it is in. @default the world itself */
  readonly root?: string | undefined
}

export interface Found {
  readonly world: World
  /** Events of the newest tick, which may not have been emitted. */
  readonly lastEvents: readonly WorldEvent[]
}

/** Restores a world from its store, writes each tick to its journal, and replaces a long journal by a snapshot. */
export class JournalWriter {
  readonly #journal: WorldJournal
  readonly #record: boolean
  #codec = new JournalCodec('')
  #journalBytes = 0
  #snapshotBytes = 0
  #hasBase = false
  #writtenTick = -1

  private constructor(journal: WorldJournal, record: boolean) {
    this.#journal = journal
    this.#record = record
  }

  static async open(name: string, { store, record = false, root }: JournalOptions): Promise<JournalWriter> {
    return new JournalWriter(await store.open(name, { record, holder: 'a Runner', root }), record)
  }

  /** The world as last committed, if there is one. @throws `corrupt-journal`, and what restoring throws */
  async restore(options: {
    systems: readonly System[]
    components: Iterable<Component>
    name?: string | undefined
  }): Promise<Found | undefined> {
    const stored = await this.#journal.load()
    if (stored === undefined) return undefined
    const { lines, codec, events, head } = openSnapshot(stored)
    this.#codec = codec
    const steps: Step[] = stored.rows.map(({ tick, line }) => {
      this.#journalBytes += line.length
      return this.#codec.decode(line, `journal of world '${this.#journal.name}', tick ${tick}`)
    })
    const deltas = steps.map((step) => step.delta)
    const world = World.restore(lines, { ...options, deltas })
    // If a value was migrated, the journal continues from a new snapshot.
    const saved = Object.entries(savedVersions(head, deltas))
    const isMigrated = saved.some(([name, version]) => world.core.token(name).version > version)
    this.#hasBase = !isMigrated
    this.#writtenTick = world.tick
    this.#snapshotBytes = lines.reduce((sum, line) => sum + line.length, 0)
    return { world, lastEvents: withContent(world, steps.at(-1)?.events ?? events) }
  }

  get lost(): LostTicks | undefined {
    return this.#journal.lost
  }

  async isTaken(): Promise<boolean> {
    return (await this.#journal.load()) !== undefined
  }

  /** Writes a snapshot, unless the store has the world at this tick. */
  async begin(world: World): Promise<void> {
    if (this.#hasBase && this.#writtenTick === world.tick) return
    await this.#journal.commit({ ...this.#snapshot(world, []), isBusy: isBusy(world) })
    this.#writtenTick = world.tick
  }

  /** Makes a tick durable. Costs what the tick changed. */
  async commit(world: World, step: Step): Promise<void> {
    const codec = this.#codec.fork()
    const events = withoutContent(step.events)
    const writers = this.#record ? { writers: world.core.state.tracking.writers() } : {}
    const line = codec.encode({ ...step, events, ...writers })
    const rows = [{ tick: step.delta.tick, line }]
    const isLong =
      this.#journalBytes + line.length > Math.max(minCompactionBytes, compactionFactor * this.#snapshotBytes)
    const before = this.#codec
    this.#codec = codec
    try {
      await this.#journal.commit({ rows, ...(isLong && this.#snapshot(world, events)), isBusy: isBusy(world) })
    } catch (error) {
      this.#codec = before
      throw error
    }
    this.#journalBytes = isLong ? 0 : this.#journalBytes + line.length
    this.#writtenTick = step.delta.tick
  }

  async close(): Promise<void> {
    await this.#journal.close()
  }

  /** @param events of the tick whose row the snapshot replaces: they may not have been emitted */
  #snapshot(world: World, events: readonly WorldEvent[]): Batch {
    const lines = [...world.snapshot()]
    if (this.#codec.chain === '') {
      const { end } = JSON.parse(lines.at(-1) as string) as SnapshotEnd
      this.#codec = new JournalCodec(end.sha256, world.core.header)
    }
    this.#hasBase = true
    this.#snapshotBytes = lines.reduce((sum, line) => sum + line.length, 0)
    const joint: Joint = { chain: this.#codec.chain, events, version: present }
    return { snapshot: { tick: world.tick, lines: [JSON.stringify(joint), ...lines] } }
  }
}

/** The world continues when a Runner starts it, without further input. */
function isBusy({ core }: World): boolean {
  const { inbox, state, tick } = core
  const isNew = tick === 0 && state.count(Unread) > 0
  return isNew || inbox.length > 0 || state.count(Effect) > 0
}

/** First line of a stored snapshot: where the journal continues. */
interface Joint {
  readonly chain: string
  readonly events: readonly WorldEvent[]
  /** Of entia; absent in old snapshots. */
  readonly version?: string | undefined
}

/** Reads a stored snapshot; the codec decodes the rows behind it. @throws `corrupt-snapshot`, `newer-version` */
export function openSnapshot({ snapshot }: StoredWorld): {
  readonly codec: JournalCodec
  readonly head: SnapshotHead
  readonly lines: readonly string[]
  readonly events: readonly WorldEvent[]
  readonly version: string | undefined
} {
  const [first = '', ...lines] = snapshot.lines
  const { chain, events, version } = shaped('joint', canonicalRead(parsedLine(first, corrupt), corrupt), corrupt)
  const head = readHead(lines[0] ?? '')
  return { codec: new JournalCodec(chain, head.header), events, head, lines, version }
}

function corrupt(problem: string): EntiaError {
  return new EntiaError('corrupt-snapshot', `stored snapshot line 1: ${problem}. Restore the store from a copy.`)
}

/** The field, by event type, whose content is in the agent's conversation as well. */
const contentFields: Readonly<Record<string, string>> = { 'tool-answered': 'result', 'tool-called': 'arguments' }

/** Events as stored: content that the world has already is left out, and found again by the id of the call. */
function withoutContent(events: readonly WorldEvent[]): readonly WorldEvent[] {
  return events.some(({ type }) => Object.hasOwn(contentFields, type)) ? events.map(withoutContentOf) : events
}

export function withoutContentOf(event: WorldEvent): WorldEvent {
  const field = Object.hasOwn(contentFields, event.type) ? contentFields[event.type] : undefined
  if (field === undefined || !Object.hasOwn(event, field)) return event
  const { [field]: _, ...brief } = event
  return brief as WorldEvent
}

/** Stored events of a world's newest tick, with their content. */
function withContent(world: World, events: readonly WorldEvent[]): readonly WorldEvent[] {
  return events.map((event) => {
    if (event.type === 'tool-called') return { ...event, arguments: argumentsOf(world, event) }
    return event.type === 'tool-answered' ? { ...event, result: resultOf(world, event) } : event
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

function resultOf(world: World, { agent, callId }: WorldEvent): Json {
  for (const message of newestFirst(world, agent as Entity)) {
    if (message.role === 'tool' && message.callId === callId) return message.content
  }
  return []
}

/** Newest first, since ids of calls may repeat in later turns. */
function* newestFirst(world: World, agent: Entity): Generator<Message> {
  const messages = (world.exists(agent) ? world.get(agent, Conversation) : undefined) ?? []
  for (let index = messages.length - 1; index >= 0; index--) yield messages[index] as Message
}
