import type { Entity } from '../../world/component.ts'
import type { Input } from '../../world/input.ts'
import type { Json } from '../../base/json.ts'
import { openLines } from '../../world/joint.ts'
import { contentOf } from '../../world/journal.ts'
import { type RawComponent, RawWorld } from '../../world/raw-world.ts'

/** What a bar of the timeline is about. */
export type SpanKind = 'model' | 'tool' | 'approval' | 'retry' | 'session' | 'slot' | 'wait' | 'paused' | 'other'

/** Something that takes time, from one tick of its world to another. */
export interface Span {
  /** Unique in its world. */
  readonly id: string
  readonly kind: SpanKind
  readonly name: string
  readonly agent?: Entity | undefined
  readonly entity: Entity
  readonly tick: number
  /** World time. */
  readonly fromMs: number
  /** It began before what was looked at. */
  readonly isOlder?: boolean | undefined
  /** Absent: it goes on. */
  readonly endTick?: number | undefined
  readonly toMs?: number | undefined
  readonly isFailed?: boolean | undefined
  /** The World of a session, and how its task begins. */
  readonly session?: string | undefined
  readonly task?: string | undefined
}

/** What a world did in a range of ticks. */
export interface WorldSpans {
  readonly spans: readonly Span[]
  /** Looked at: from behind this tick to that one. */
  readonly fromTick: number
  readonly tick: number
  /** World time at its last tick. */
  readonly nowMs: number
  /** From this world time on, Unix time is so much later: a change for each start. */
  readonly clock: readonly (readonly [fromMs: number, dateOffsetMs: number])[]
  /** Its agent's session lies below these, outermost first, its own last. */
  readonly path: readonly string[]
}

interface Stored {
  readonly snapshot: { readonly lines: readonly string[] }
  readonly rows: readonly { readonly tick: number; readonly line: string }[]
}

/** Components that say when something begins or ends. */
const telling = ['Effect', 'Outcome', 'Due', 'SubagentWait', 'AwaitingSession', 'Paused', 'SubagentSession'] as const
/** Components that say what it is. */
const naming = ['ToolCall', 'Approval', 'SideCall', 'Subtask', 'OwnedBy', 'Llm', 'WaitDeadline', 'Ancestry'] as const
const followed: readonly string[] = [...telling, ...naming]

/** Effects that the engine has for itself. */
const own = new Set(['rates', 'record', 'queue-position', 'transcript', 'holder', 'holder-removal', 'settling'])

type Values = Record<string, Json>
type Open = Omit<Span, 'endTick' | 'toMs' | 'isFailed'>

/** Reads a world's spans from its ticks, one after the other. */
export class SpanReader {
  readonly fromTick: number
  #tick: number
  #nowMs: number
  #dateOffsetMs: number
  readonly #clock: [number, number][]
  /** By entity: what is known of it. */
  readonly #values = new Map<Entity, Values>()
  readonly #open = new Map<string, Open>()
  /** By entity: those that are open. */
  readonly #ids = new Map<Entity, readonly string[]>()
  #closed: Span[] = []

  /** Of a world as it is stored: its snapshot, and the rows behind it. @throws `corrupt-journal`, `corrupt-snapshot` */
  static of({ rows, snapshot }: Stored, known: Readonly<Record<string, RawComponent>>): SpanReader {
    const reader = new SpanReader(RawWorld.restore(openLines(snapshot.lines).lines, known))
    for (const row of rows) reader.takeRow(row)
    return reader
  }

  /** @param world as of the tick behind which it begins */
  constructor(world: RawWorld) {
    const { dateOffsetMs } = world.header
    this.fromTick = world.tick
    this.#tick = world.tick
    this.#nowMs = world.nowMs
    this.#dateOffsetMs = dateOffsetMs
    this.#clock = [[world.nowMs, dateOffsetMs]]
    for (const name of followed) {
      for (const entity of world.entitiesWith(name)) this.#know(entity, name, world.value(entity, name) as Json)
    }
    for (const entity of this.#values.keys()) this.#look(entity, new Map(), true)
  }

  get tick(): number {
    return this.#tick
  }

  takeRow({ line, tick }: Stored['rows'][number]): void {
    const { delta, inputs } = contentOf(line, `tick ${tick}`)
    this.#tick = tick
    this.#nowMs = delta.nowMs ?? this.#nowMs
    if (delta.dateOffsetMs !== undefined && delta.dateOffsetMs !== this.#dateOffsetMs) {
      this.#dateOffsetMs = delta.dateOffsetMs
      this.#clock.push([this.#nowMs, delta.dateOffsetMs])
    }
    const touched = new Set<Entity>()
    for (const name of followed) {
      for (const [entity, value] of delta.set?.[name] ?? []) touched.add(this.#know(entity, name, value))
      for (const entity of delta.removed?.[name] ?? []) touched.add(this.#forget(entity, name))
    }
    for (const entity of delta.despawned ?? []) if (this.#values.delete(entity)) touched.add(entity)
    const failed = failuresIn(inputs)
    for (const entity of touched) this.#look(entity, failed, false)
  }

  /** What has ended since the last call, and what goes on. */
  read(): WorldSpans {
    const spans = [...this.#closed, ...this.#open.values()]
    this.#closed = []
    const { fromTick } = this
    return { spans, fromTick, tick: this.#tick, nowMs: this.#nowMs, clock: [...this.#clock], path: this.#path() }
  }

  #know(entity: Entity, name: string, value: Json): Entity {
    const known = this.#values.get(entity)
    if (known === undefined) this.#values.set(entity, { [name]: value })
    else known[name] = value
    return entity
  }

  #forget(entity: Entity, name: string): Entity {
    const known = this.#values.get(entity)
    if (known !== undefined) delete known[name]
    return entity
  }

  /** Closes what an entity does no more, and opens what it does from now on. */
  #look(entity: Entity, failed: ReadonlyMap<Entity | string, boolean>, isOlder: boolean): void {
    const known = this.#values.get(entity)
    const wanted = known === undefined ? [] : this.#spansOf(entity, known)
    const ids = wanted.map(({ id }) => id)
    for (const id of this.#ids.get(entity) ?? []) if (!ids.includes(id)) this.#close(id, failed)
    for (const span of wanted)
      if (!this.#open.has(span.id)) this.#open.set(span.id, { ...span, ...(isOlder && { isOlder }) })
    if (ids.length === 0) this.#ids.delete(entity)
    else this.#ids.set(entity, ids)
  }

  #close(id: string, failed: ReadonlyMap<Entity | string, boolean>): void {
    const span = this.#open.get(id) as Open
    this.#open.delete(id)
    const approval = id.startsWith('approval:') ? id.slice('approval:'.length) : undefined
    const outcome = this.#values.get(span.entity)?.['Outcome'] as { readonly ok?: boolean } | undefined
    const isFailed = failed.get(approval ?? span.entity) ?? outcome?.ok === false
    this.#closed.push({ ...span, endTick: this.#tick, toMs: this.#nowMs, ...(isFailed && { isFailed }) })
  }

  #spansOf(entity: Entity, known: Values): readonly Open[] {
    const at = { entity, tick: this.#tick, fromMs: this.#nowMs }
    const spans: Open[] = []
    const effect = known['Effect'] as { readonly kind: string; readonly attempt: number } | undefined
    if (effect !== undefined && known['Outcome'] === undefined && known['WaitDeadline'] === undefined) {
      if (!own.has(effect.kind)) spans.push({ ...at, ...this.#ofEffect(entity, known, effect) })
    }
    const wait = known['SubagentWait'] as { readonly startedAtMs: number } | undefined
    if (wait !== undefined)
      spans.push({
        ...at,
        id: `wait:${entity}:${wait.startedAtMs}`,
        kind: 'wait',
        name: 'waits for sessions',
        agent: entity,
      })
    const awaited = known['AwaitingSession'] as { readonly session: Entity } | undefined
    if (awaited !== undefined) {
      const session = this.#values.get(awaited.session)?.['SubagentSession'] as Session | undefined
      spans.push({
        ...at,
        id: `await:${entity}`,
        kind: 'wait',
        name: `waits for ${session?.category ?? 'a session'}`,
        agent: this.#agentOf(known),
      })
    }
    if (known['Paused'] !== undefined)
      spans.push({ ...at, id: `paused:${entity}`, kind: 'paused', name: 'paused', agent: entity })
    return spans
  }

  #ofEffect(
    entity: Entity,
    known: Values,
    { attempt, kind }: { readonly attempt: number; readonly kind: string },
  ): Pick<Open, 'id' | 'kind' | 'name' | 'agent' | 'session' | 'task'> {
    const agent = this.#agentOf(known)
    const id = `${entity}:${attempt}`
    if (known['Due'] !== undefined) return { id: `due:${id}`, kind: 'retry', name: `waits for try ${attempt}`, agent }
    const session = known['SubagentSession'] as Session | undefined
    if (kind === 'session' && session !== undefined) {
      const { category: name, prompt, sessionId, status } = session
      const isQueued = status === 'queued'
      return {
        id: `${isQueued ? 'queued' : 'session'}:${entity}`,
        kind: isQueued ? 'slot' : 'session',
        name,
        agent,
        session: sessionId,
        task: prompt.slice(0, maxTaskChars),
      }
    }
    switch (kind) {
      case 'model':
        return { id, kind, name: this.#modelOf(known, agent), agent }
      case 'tool':
        return { id, kind, name: textIn(known['ToolCall'], 'name') ?? 'a tool', agent }
      case 'approval':
        return {
          id: `approval:${textIn(known['Approval'], 'id')}`,
          kind,
          name: `may ${textIn(known['Approval'], 'tool')} run?`,
          agent,
        }
      case 'slot':
        return { id, kind, name: 'waits for a slot', agent }
      case 'subtask':
        return {
          id,
          kind: 'session',
          name: textIn(known['Subtask'], 'name') ?? kind,
          agent,
          session: textIn(known['Subtask'], 'subtaskId'),
        }
      default:
        return { id, kind: 'other', name: kind, agent }
    }
  }

  #modelOf(known: Values, agent: Entity | undefined): string {
    const side = textIn(known['SideCall'], 'purpose')
    const model =
      textIn(known['SideCall'], 'model') ?? textIn(this.#values.get(agent ?? -1)?.['Llm'], 'model') ?? 'model'
    const name = model.slice(model.indexOf('/') + 1)
    return side === undefined ? name : `${name}: ${side}`
  }

  #agentOf(known: Values): Entity | undefined {
    for (const name of ['OwnedBy', 'SideCall', 'Subtask']) {
      const agent = (known[name] as { readonly agent?: unknown } | undefined)?.agent
      if (typeof agent === 'number') return agent
    }
    const parent = (known['SubagentSession'] as { readonly parent?: unknown } | undefined)?.parent
    return typeof parent === 'number' ? parent : undefined
  }

  #path(): readonly string[] {
    for (const { Ancestry } of this.#values.values()) {
      const { sessions } = (Ancestry ?? {}) as { readonly sessions?: readonly { readonly sessionId: string }[] }
      if (sessions !== undefined) return sessions.map(({ sessionId }) => sessionId)
    }
    return []
  }
}

const maxTaskChars = 120

interface Session {
  readonly prompt: string
  readonly category: string
  readonly sessionId: string
  readonly status: string
}

function textIn(value: Json | undefined, field: string): string | undefined {
  const text = (value as Record<string, Json> | undefined)?.[field]
  return typeof text === 'string' ? text : undefined
}

/** By effect, or by the id of an approval: whether what came of it is a failure. */
function failuresIn(inputs: readonly Input[]): ReadonlyMap<Entity | string, boolean> {
  const found = new Map<Entity | string, boolean>()
  for (const { approval, approved, effect, kind, outcome } of inputs) {
    if (kind === 'outcome' && typeof effect === 'number') {
      found.set(effect, (outcome as { readonly ok?: Json } | undefined)?.ok === false)
    } else if (kind === 'answer' && typeof approval === 'string') found.set(approval, approved !== true)
  }
  return found
}
