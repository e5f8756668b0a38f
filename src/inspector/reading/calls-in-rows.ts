import type { Input, WorldEvent } from '../../world/input.ts'
import type { Json } from '../../base/json.ts'
import type { CallEntry, CallsReply, LogEditEntry, RequestUsage } from './wire.ts'

/** As much of a row as calls need. It is not checked: what is shown of it is. */
interface Row {
  readonly i?: readonly Input[]
  readonly e?: readonly WorldEvent[]
  readonly d?: {
    readonly nowMs?: number
    readonly set?: Readonly<Record<string, readonly (readonly [number, Json])[]>>
    readonly appended?: Readonly<Record<string, readonly (readonly [number, Json])[]>>
    readonly spliced?: Readonly<Record<string, readonly (readonly [number, Json])[]>>
    readonly despawned?: readonly number[]
  }
}

type OpenCall = { -readonly [Name in keyof CallEntry]: CallEntry[Name] } & { tries: number[] }

/** Reads model calls, and how conversations changed, from rows, one after the other. */
export class CallsInRows {
  readonly #calls: OpenCall[] = []
  readonly #edits: LogEditEntry[] = []
  readonly #open = new Map<number, OpenCall>()
  #nowMs: number

  /** @param nowMs world time before the first row */
  constructor(nowMs: number) {
    this.#nowMs = nowMs
  }

  get all(): Pick<CallsReply, 'calls' | 'edits'> {
    return { calls: this.#calls, edits: this.#edits }
  }

  /** @param isWanted it counts; else only the time is read */
  read(tick: number, line: string, isWanted: boolean): void {
    const { d = {}, e = [], i = [] } = JSON.parse(line.slice(line.indexOf(' ') + 1)) as Row
    this.#nowMs = d.nowMs ?? this.#nowMs
    if (!isWanted) return
    this.#readEdits(tick, d, i)
    for (const [effect] of d.set?.['Pending'] ?? []) this.#open.get(effect)?.tries.push(tick)
    for (const [effect, value] of d.set?.['SideCall'] ?? []) this.#beginBeside(effect, tick, valueAt(value, i))
    for (const event of e) if (event.type === 'model-called') this.#begin(tick, event)
    for (const input of i) if (input.kind === 'outcome') this.#hear(input)
    for (const event of e) if (event.type === 'model-replied' || event.type === 'model-failed') this.#end(tick, event)
    for (const effect of d.despawned ?? []) this.#leave(effect, tick)
  }

  #begin(tick: number, event: WorldEvent): void {
    const { agent, effect, messages, step } = event as WorldEvent & Readonly<Record<string, number>>
    this.#add({ effect: effect ?? 0, agent: agent ?? 0, messages: messages ?? 0, step }, tick)
  }

  #beginBeside(effect: number, tick: number, value: Json | undefined): void {
    const { agent, purpose } = (value ?? {}) as { readonly agent?: number; readonly purpose?: string }
    // Another attempt at a shorter text, or a repair, is another call of the same effect.
    this.#leave(effect, tick)
    this.#add({ effect, agent: agent ?? 0, messages: 0, purpose }, tick)
  }

  #add(call: Pick<CallEntry, 'effect' | 'agent' | 'messages' | 'step' | 'purpose'>, tick: number): void {
    const made: OpenCall = { ...call, tick, tries: [tick], atMs: this.#nowMs, state: 'open' }
    this.#calls.push(made)
    this.#open.set(call.effect, made)
  }

  /** What a provider said and what it cost; a failure may be tried again. */
  #hear(input: Input): void {
    const { effect, outcome } = input as Input & { readonly effect: number; readonly outcome?: Outcome }
    const call = this.#open.get(effect)
    if (call === undefined || outcome === undefined) return
    if (outcome.ok) {
      call.usage = outcome.value?.usage
      call.costNanoUsd = outcome.value?.costNanoUsd
      call.state = 'replied'
    } else call.failure = outcome.failure
  }

  #end(tick: number, event: WorldEvent): void {
    const { effect, failure, usage } = event as WorldEvent & {
      readonly effect: number
      readonly failure?: CallEntry['failure']
      readonly usage?: RequestUsage
    }
    const call = this.#open.get(effect)
    if (call === undefined) return
    call.state = event.type === 'model-replied' ? 'replied' : 'failed'
    call.usage = usage ?? call.usage
    call.failure = call.state === 'failed' ? (failure ?? call.failure) : undefined
    this.#close(call, tick)
  }

  /** The effect is gone. A call beside the conversation has no event of its own. */
  #leave(effect: number, tick: number): void {
    const call = this.#open.get(effect)
    if (call === undefined) return
    if (call.state === 'open') call.state = call.failure === undefined ? 'cancelled' : 'failed'
    this.#close(call, tick)
  }

  #close(call: OpenCall, tick: number): void {
    call.endTick = tick
    call.endMs = this.#nowMs
    this.#open.delete(call.effect)
  }

  #readEdits(tick: number, { appended, set, spliced }: NonNullable<Row['d']>, inputs: readonly Input[]): void {
    const at = { tick, atMs: this.#nowMs }
    for (const [agent, items] of set?.['Conversation'] ?? [])
      this.#edits.push({ ...at, agent, at: 0, removed: 0, added: lengthOf(valueAt(items, inputs)) })
    for (const [agent, items] of appended?.['Conversation'] ?? [])
      this.#edits.push({ ...at, agent, removed: 0, added: lengthOf(valueAt(items, inputs)) })
    for (const [agent, edits] of spliced?.['Conversation'] ?? []) {
      for (const edit of (valueAt(edits, inputs) ?? []) as readonly (readonly [number, number, Json])[]) {
        const [from, removed, items] = edit
        this.#edits.push({ ...at, agent, at: from, removed, added: lengthOf(valueAt(items, inputs)) })
      }
    }
  }
}

interface Outcome {
  readonly ok: boolean
  readonly value?: { readonly usage?: RequestUsage; readonly costNanoUsd?: number }
  readonly failure?: { readonly kind: string; readonly message: string }
}

/** Rows hold what is part of an input as its place there. */
function valueAt(value: Json | undefined, inputs: readonly Input[]): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { $in: place } = value as { readonly $in?: Json }
  if (!Array.isArray(place)) return value
  let found: unknown = inputs
  for (const key of place as readonly (string | number)[]) found = (found as Record<string | number, unknown>)?.[key]
  return found as Json | undefined
}

function lengthOf(items: Json | undefined): number {
  return Array.isArray(items) ? items.length : 0
}
