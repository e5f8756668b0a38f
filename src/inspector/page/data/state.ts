import { computed, effect, signal } from '@preact/signals'
import type { RawWorld } from '../../../world/raw-world.ts'
import { type Mark, marksInLine } from '../../reading/marks.ts'
import { ownValue } from '../../reading/own-value.ts'
import type { WorldSummary } from '../../reading/summaries.ts'
import type {
  LiveEvents,
  MarksReply,
  Problem,
  SourceInfo,
  StreamedDelta,
  SummariesReply,
  TickRow,
  TicksReply,
  WorldEntry,
  WorldsReply,
} from '../../reading/wire.ts'
import { address, go } from './address.ts'
import { type Connection, type LiveHandlers, ProblemError, ServerConnection } from './connection.ts'
import { Past } from './past.ts'

/** The world that is shown, as of a tick. A new object for each move, since the world itself changes. */
export interface Moment {
  readonly world: RawWorld
  readonly past: Past
  readonly tick: number
  readonly newest: number
}

/** What a model has streamed of a call in flight. */
export interface Streaming {
  readonly attempt: number
  readonly text: string
  readonly thinking: string
}

export const source = signal<SourceInfo | undefined>(undefined)
/** All worlds by name, in the order of the tree. */
export const worlds = signal<ReadonlyMap<string, WorldEntry>>(new Map())
export const summaries = signal<ReadonlyMap<string, WorldSummary | { readonly problem: Problem }>>(new Map())
export const moment = signal<Moment | undefined>(undefined)
export const marks = signal<readonly Mark[]>([])
/** By `<world>/<effect>`. */
export const streaming = signal<ReadonlyMap<string, Streaming>>(new Map())
export const link = signal<'opening' | 'open' | 'lost' | 'ended'>('opening')
/** Why nothing can be shown. */
export const problem = signal<Problem | undefined>(undefined)
export const ended = signal<LiveEvents['ended'] | undefined>(undefined)
/** The page is fetching or moving for longer than a moment. */
export const isBusy = signal(false)

export const isLive = computed(() => address.value.tick === 'live' && source.value?.kind !== 'run')

export let connection: Connection = new ServerConnection(address.value.token)

const summariesEachMs = 400
const maxStreams = 256
let past: Past | undefined
let endLive: (() => void) | undefined

/** Begins: reads the source and its worlds, and follows the address from then on. */
export async function begin(from: Connection = connection): Promise<void> {
  connection = from
  try {
    const [info] = await Promise.all([connection.get<SourceInfo>('source'), readWorlds()])
    source.value = info
  } catch (error) {
    problem.value = problemOf(error)
    return
  }
  effect(() => {
    const { tick, world } = address.value
    const { violation } = source.peek()?.run ?? {}
    // A run that broke a law is opened where it did.
    if (world === undefined && violation !== undefined && worlds.peek().has(violation.world))
      return go({ world: violation.world, tick: violation.tick })
    if (world === undefined) {
      if (firstWorld.value !== undefined) return go({ world: firstWorld.value })
      // The first that appears is opened.
      endLive ??= connection.live(() => ({}), newsOfAll)
    } else if (past?.name !== world) open(world)
    else void moveTo(tick)
  })
}

const firstWorld = computed(() => worlds.value.keys().next().value)

async function readWorlds(): Promise<void> {
  const entries: WorldEntry[] = []
  for (let isWhole = false; !isWhole;) {
    const offset = entries.length === 0 ? undefined : entries.length
    const { total, worlds: further } = await connection.get<WorldsReply>('worlds', { offset })
    entries.push(...further)
    isWhole = further.length === 0 || entries.length >= total
  }
  worlds.value = new Map(entries.map((entry) => [entry.name, entry]))
}

function open(world: string): void {
  moment.value = undefined
  forgetMarks()
  problem.value = undefined
  const known = source.peek()?.components ?? {}
  past = new Past({ world, known, fetch: (query) => connection.get<TicksReply>('ticks', query) })
  endLive?.()
  endLive = undefined
  void openAt(past)
}

async function openAt(opened: Past): Promise<void> {
  await moveTo(address.peek().tick)
  if (past !== opened) return
  await readMarks(opened, opened.newest)
  if (past !== opened) return
  if (source.peek()?.kind === 'run') link.value = 'ended'
  else if (opened.world !== undefined) follow(opened)
  // One that cannot be shown is not followed: others are.
  else endLive = connection.live(() => ({}), newsOfAll)
}

async function moveTo(tick: number | 'live'): Promise<void> {
  const moved = past
  if (moved === undefined) return
  const timer = setTimeout(() => (isBusy.value = true), 150)
  try {
    const isThere = await moved.goTo(tick === 'live' ? Infinity : tick)
    if (isThere && past === moved) show(moved)
    if (past === moved) problem.value = undefined
  } catch (error) {
    if (past === moved) problem.value = problemOf(error)
  } finally {
    clearTimeout(timer)
    isBusy.value = false
  }
}

function show(shown: Past): void {
  const { newest, world } = shown
  if (world === undefined) return
  moment.value = { world, past: shown, tick: world.tick, newest }
  if (markedTo > 0) void readMarks(shown, world.tick)
}

/** News of whichever world. */
const newsOfAll: LiveHandlers = {
  state: (state, why) => {
    link.value = state
    if (why?.code === 'forbidden') problem.value = why
    if (state === 'open') void readWorlds().catch(() => undefined)
  },
  rows: () => undefined,
  reset: () => undefined,
  worlds: hearWorlds,
  delta: (delta) => hearDelta(delta),
  streamed: ({ attempt, effect: id, text, world }) => stream(`${world}/${id}`, { attempt, text, thinking: '' }),
  ended: (how) => {
    ended.value = how
    link.value = 'ended'
  },
}

function follow(followed: Past): void {
  endLive = connection.live(() => ({ world: followed.name, after: followed.held[1] }), {
    ...newsOfAll,
    rows: ({ newest, rows }) => {
      if (past !== followed) return
      const { value: shown } = moment
      if (!followed.add(rows, newest)) followed.heard(newest)
      markRows(rows)
      if (address.peek().tick === 'live') void moveTo('live')
      else if (shown !== undefined) show(followed)
    },
    reset: ({ newest }) => {
      if (past !== followed) return
      followed.forget()
      followed.heard(newest)
      void moveTo(address.peek().tick)
    },
  })
}

function hearWorlds({ changed, gone = [] }: LiveEvents['worlds']): void {
  const now = new Map(worlds.value)
  for (const entry of changed) {
    // Of one that is driven only what moves is said.
    now.set(entry.name, entry.isDriven === true ? { ...now.get(entry.name), ...entry } : entry)
    if (summaries.value.has(entry.name)) wantSummary(entry.name)
  }
  for (const name of gone) now.delete(name)
  worlds.value = now
  const shown = past?.name
  if (shown === undefined || !gone.includes(shown)) return
  const message = `World '${shown}' is not there any more. What is shown of it is what was read before.`
  problem.value = { code: 'no-such-world', message }
}

function hearDelta({ attempt, delta, effect: id, world }: StreamedDelta): void {
  const key = `${world}/${id}`
  const known = streaming.peek().get(key)
  const before = known?.attempt === attempt ? known : { attempt, text: '', thinking: '' }
  if (delta.type === 'discarded') stream(key, undefined)
  else if (delta.type === 'text') stream(key, { ...before, text: before.text + (delta.text ?? '') })
  else if (delta.type === 'thinking') stream(key, { ...before, thinking: before.thinking + (delta.text ?? '') })
}

/** Of calls that have ended no one is told: the one that was heard of longest ago goes first. */
function stream(key: string, what: Streaming | undefined): void {
  const now = new Map(streaming.peek())
  now.delete(key)
  if (what !== undefined) now.set(key, what)
  for (const [oldest] of now) if (now.size > maxStreams) now.delete(oldest)
  streaming.value = now
}

/** Ticks of whose marks a block is read at once, when the page comes near. */
const markBlock = 10_000
const maxMarks = 100_000
const markBlocks = new Set<number>()
let markedTo = 0

function forgetMarks(): void {
  marks.value = []
  markBlocks.clear()
  markedTo = 0
}

/** Reads the marks of the ticks around one, unless they are here. */
async function readMarks(of: Past, tick: number): Promise<void> {
  const block = Math.floor(tick / markBlock)
  if (markBlocks.has(block)) return
  markBlocks.add(block)
  const from = block * markBlock
  try {
    const query = { world: of.name, from, to: from + markBlock - 1 }
    const reply = await connection.get<MarksReply>('marks', query)
    if (past !== of) return
    const others = marks.peek().filter((mark) => mark.tick < reply.from || mark.tick > reply.to)
    marks.value = [...others, ...reply.marks].slice(-maxMarks)
    markedTo = Math.max(markedTo, Math.min(reply.to, of.newest))
  } catch {
    // The scrubber goes without them until the page comes here again.
    markBlocks.delete(block)
  }
}

/** New ticks bring their own marks along: no one is asked. */
function markRows(rows: readonly TickRow[]): void {
  const further = rows.filter(({ tick }) => tick > markedTo)
  const found = further.flatMap(({ line, tick }) => marksInLine(tick, line))
  markedTo = further.at(-1)?.tick ?? markedTo
  if (found.length > 0) marks.value = [...marks.peek(), ...found].slice(-maxMarks)
}

let dateAheadMs: number | undefined

/** Unix time by the clock that drives the worlds, which may be a virtual one; where none does, that of this machine. */
export function sourceDate(): number {
  return dateAheadMs === undefined ? Date.now() : dateAheadMs + performance.now()
}

const wanted = new Set<string>()
let summaryTimer: ReturnType<typeof setTimeout> | undefined

/** Asks for the summary of a world, together with others that are wanted now. */
export function wantSummary(world: string): void {
  wanted.add(world)
  summaryTimer ??= setTimeout(() => void readSummaries(), summaries.peek().size === 0 ? 0 : summariesEachMs)
}

async function readSummaries(): Promise<void> {
  const asked = [...wanted].slice(0, 200)
  for (const world of asked) wanted.delete(world)
  try {
    const { dateMs, summaries: found } = await connection.post<SummariesReply>('summaries', { worlds: asked })
    dateAheadMs = dateMs && dateMs - performance.now()
    summaries.value = new Map([...summaries.value, ...Object.entries(found)])
    // There was no time for these.
    for (const world of asked) if (ownValue(found, world) === undefined) wanted.add(world)
  } catch {
    // They are wanted again when they are shown again.
  }
  summaryTimer = wanted.size > 0 ? setTimeout(() => void readSummaries(), 50) : undefined
}

export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem
  const { code, message } = error as { readonly code?: string; readonly message?: string }
  return { code: (code ?? 'internal') as Problem['code'], message: message ?? String(error) }
}
