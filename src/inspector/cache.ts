import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import { Ancestry } from '../../components/sessions/ancestry.ts'
import { Prices } from '../models/prices.ts'
import type { TokenUsage } from '../protocol/usage.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { World } from '../world/world.ts'
import { callsOf } from './calls.ts'
import type { PastWorlds } from './past-worlds.ts'
import type { CacheBreak, CacheEntry, CacheReply, CallEntry, RequestPart } from './reading/wire.ts'
import { partedRequest, type PartedRequest, textOf } from './request-parts.ts'
import type { Source } from './source.ts'

/** Requests that one reply compares; the newest of a range count. */
const maxCompared = 400
/** Of what differs is shown, in characters. */
const shownBefore = 60
const shownBehind = 100

/** How far each request is the same as the one before it. @throws `no-such-world` */
export async function cacheOf(
  source: Source,
  past: PastWorlds,
  { from, to, world }: { readonly world: string; readonly from: number; readonly to: number },
): Promise<CacheReply> {
  const known = await callsOf(source, world, Math.max(0, from - 1), to)
  const steps = known.calls.filter(({ purpose }) => purpose === undefined)
  const wanted = steps.filter(({ tick }) => tick >= from).slice(-maxCompared)
  const before = new Map<number, Compared>()
  const compared: { readonly call: CallEntry; readonly found: Found; readonly dateMs: number }[] = []
  const byTick = Map.groupBy(withThoseBefore(steps, wanted), ({ tick }) => tick)
  await past.walk(world, [...byTick.keys()], (then, tick) => {
    for (const call of byTick.get(tick) ?? []) {
      const now = { ...partedRequest(then, call.effect), world, tick, effect: call.effect }
      const found = comparedWith(before.get(call.agent), now)
      before.set(call.agent, now)
      if (wanted.includes(call)) compared.push({ call, found, dateMs: then.dateMs })
    }
  })
  const [first] = compared
  if (first !== undefined && first.found.before === undefined) {
    const parents = await parentRequest(source, past, world, first.call)
    if (parents !== undefined) compared[0] = { ...first, found: comparedWith(parents, first.found.now) }
  }
  const requests = await Promise.all(compared.map((each) => entryOf(source, each)))
  return { requests, from: wanted.length < maxCompared ? known.from : (wanted[0]?.tick ?? from), to: known.to }
}

interface Compared extends PartedRequest {
  readonly world: string
  readonly tick: number
  readonly effect: number
}

/** The first one that is wanted of each agent is compared with one before it. */
function withThoseBefore(steps: readonly CallEntry[], wanted: readonly CallEntry[]): readonly CallEntry[] {
  const firsts = new Map(wanted.toReversed().map((call) => [call.agent, call]))
  const earlier = [...firsts.values()].flatMap((call) => {
    return steps.findLast(({ agent, tick }) => agent === call.agent && tick < call.tick) ?? []
  })
  return [...new Set([...earlier, ...wanted])].toSorted((one, other) => one.tick - other.tick)
}

interface Found {
  readonly now: Compared
  readonly before: Compared | undefined
  readonly sharedBytes: number
  readonly sharedTokens: number
  readonly broken?: Omit<CacheBreak, 'paidAgainNanoUsd'> | undefined
}

/** What stands behind the last breakpoint is another one in each call, and in no cache. */
function cached({ parts }: Compared): readonly RequestPart[] {
  return parts.filter(({ kind }) => kind !== 'tail')
}

function comparedWith(before: Compared | undefined, now: Compared): Found {
  if (before === undefined) return { now, before, sharedBytes: 0, sharedTokens: 0 }
  const [old, fresh] = [cached(before), cached(now)]
  let same = 0
  let tokens = 0
  while (same < old.length && isSame(old[same] as RequestPart, fresh[same]))
    tokens += (fresh[same++] as RequestPart).tokens
  const [was, is] = [old[same], fresh[same]]
  if (was === undefined) return { now, before, sharedBytes: fresh[same - 1]?.toByte ?? 0, sharedTokens: tokens }
  const [text, other] = [keyText(was), is === undefined ? '' : keyText(is)]
  const at = firstDifference(text, other)
  const bytes = Buffer.byteLength(text.slice(0, at))
  const whole = (is?.toByte ?? 0) - (is?.fromByte ?? 0)
  const sharedTokens = tokens + (whole === 0 ? 0 : Math.floor(((is?.tokens ?? 0) * bytes) / whole))
  const rest = (parts: readonly RequestPart[]) => sum(parts) - sharedTokens
  return {
    now,
    before,
    sharedBytes: was.fromByte + bytes,
    sharedTokens,
    broken: {
      atByte: was.fromByte + bytes,
      // A message that is gone has no component of its own any more.
      component: is?.kind === was.kind || is === undefined ? was.component : is.component,
      before: around(text, at),
      after: around(other, at),
      paidAgainTokens: Math.max(0, Math.min(rest(old), rest(fresh))),
    },
  }
}

function sum(parts: readonly RequestPart[]): number {
  return parts.reduce((all, { tokens }) => all + tokens, 0)
}

function isSame(one: RequestPart, other: RequestPart | undefined): boolean {
  if (other === undefined || one.kind !== other.kind) return false
  // Values of a World are the same objects as long as they are the same.
  return one.value === other.value || keyText(one) === keyText(other)
}

/** Options that change an answer, and not what is read for it, leave the cache whole. */
const freeOptions: ReadonlySet<string> = new Set(['maxOutputTokens', 'temperature'])

function keyText({ kind, value }: RequestPart): string {
  if (kind !== 'options') return textOf(value)
  return textOf(
    Object.fromEntries(Object.entries(value as JsonObject).filter(([name]) => !freeOptions.has(name))) as Json,
  )
}

function firstDifference(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  let at = 0
  while (at < length && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return at
}

function around(text: string, at: number): string {
  const from = Math.max(0, at - shownBefore)
  const part = text.slice(from, at + shownBehind).toWellFormed()
  return `${from > 0 ? '…' : ''}${part}${at + shownBehind < text.length ? '…' : ''}`
}

/** A fork begins with what its parent had sent: its first request is compared with the parent's last one before it. */
async function parentRequest(
  source: Source,
  past: PastWorlds,
  world: string,
  first: CallEntry,
): Promise<Compared | undefined> {
  const above = await past.at(world, first.tick, (then) => {
    const sessions = then.get(first.agent, Ancestry)?.sessions
    return sessions?.at(-1)?.kind === 'fork'
      ? { id: sessions.at(-1)?.sessionId, parent: sessions.at(-2)?.sessionId }
      : undefined
  })
  const parent = above && (above.parent ?? (await source.entry(world))?.root)
  if (above === undefined || parent === undefined) return undefined
  const newest = (await source.entry(parent))?.tick
  if (newest === undefined) return undefined
  const launcher = await past.at(parent, newest, (then) => launcherOf(then, above.id))
  if (launcher === undefined) return undefined
  const { calls } = await callsOf(source, parent, 0, newest)
  const call = calls.findLast(
    ({ agent, atMs, purpose }) => agent === launcher.agent && purpose === undefined && atMs <= launcher.atMs,
  )
  if (call === undefined) return undefined
  const { effect, tick } = call
  return past.at(parent, tick, (then) => ({ ...partedRequest(then, effect), world: parent, tick, effect }))
}

function launcherOf(world: World, sessionId: string | undefined) {
  for (const session of world.entitiesWith(SubagentSession)) {
    const { createdAtMs, parent, sessionId: its } = world.read(session, SubagentSession)
    if (its === sessionId) return { agent: parent, atMs: createdAtMs }
  }
  return undefined
}

async function entryOf(
  source: Source,
  { call, dateMs, found }: { readonly call: CallEntry; readonly found: Found; readonly dateMs: number },
): Promise<CacheEntry> {
  const { before, broken, now, sharedBytes, sharedTokens } = found
  const { model, parts, tokens } = now
  return {
    ...call,
    model,
    before: before && { world: before.world, effect: before.effect, tick: before.tick },
    sharedBytes,
    sharedTokens,
    totalBytes: parts.at(-1)?.toByte ?? 0,
    totalTokens: tokens,
    broken: broken && {
      ...broken,
      paidAgainNanoUsd: await costOf(source, model, broken.paidAgainTokens, call, dateMs),
    },
  }
}

let listed: Prices | undefined

/** Of prompt tokens that are read anew: written to the cache, where the provider says that it was. */
async function costOf(
  { runner }: Source,
  model: string,
  tokens: number,
  { usage }: CallEntry,
  dateMs: number,
): Promise<number | undefined> {
  const isWritten = (usage?.cacheWrite ?? 0) > 0
  const asked: TokenUsage = isWritten ? { input: 0, cacheWrite: tokens, output: 0 } : { input: tokens, output: 0 }
  const { costNanoUsd } = await (runner?.host ?? (listed ??= new Prices())).priced(model, asked, dateMs)
  return costNanoUsd
}
