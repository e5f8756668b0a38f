import { agentKey, sessionKey } from '../engine/children/world-tree.ts'
import { HttpGuard } from '../runtime/http-guard.ts'
import { EntiaError } from '../base/entia-error.ts'
import { checkOptions, flag, filledText, listOf, objectWith, refuseMisfit, text } from '../base/option-shapes.ts'
import { version } from '../base/version.ts'
import { act, ForbiddenError } from './actions.ts'
import { cacheOf } from './cache.ts'
import { callsOf } from './calls.ts'
import { CopyingSource } from './copies/copying-source.ts'
import { LiveStream } from './live-stream.ts'
import { pageFiles } from './page-files.ts'
import { PastWorlds } from './past-worlds.ts'
import { rawComponents } from './reading/raw-view.ts'
import type { Abilities, Problem, SourceInfo, SummariesReply } from './reading/wire.ts'
import { requestAt } from './requests.ts'
import type { SpansOf } from './reading/wire-of-many.ts'
import type { Source } from './source.ts'
import { Present } from './present.ts'
import { Spans } from './spans-of.ts'
import { Summaries } from './summaries-of.ts'
import { spendingAt, tokensOf } from './agent-counts.ts'
import { marksIn, noSuchWorld, ticksOf } from './ticks.ts'

/** Options of `inspectorHandler`. */
export interface InspectorHandlerOptions {
  readonly source: Source
  /** What a page says in the header `Authorization: Bearer …`. */
  readonly token: string
  /** Names by which the server is reached, such as `localhost`. */
  readonly allowedHosts: readonly string[]
  /** Whether a page may post, answer, cancel and fork. @default false */
  readonly actions?: boolean | undefined
  /** The path below which the page lies. @default '/' */
  readonly path?: string | undefined
}

/** A fetch handler. */
export interface InspectorHandler {
  (request: Request): Promise<Response>
  /** Ends its streams, and the source. */
  close(): Promise<void>
}

const maxBodyBytes = 4_000_000
const maxListed = 20_000
const maxSummaries = 200

/**
 * The inspector as a fetch handler `(Request) => Promise<Response>`, for a server of one's own. The page asks for the token in the
 * fragment of its address: `<url>#token=…`.
 * @throws `invalid-argument`
 */
export function inspectorHandler(options: InspectorHandlerOptions): InspectorHandler {
  const needed = {
    source: objectWith('a source', 'worlds', 'read'),
    token: filledText,
    allowedHosts: listOf(filledText),
  }
  checkOptions('inspectorHandler', options, { ...needed, actions: flag, path: text })
  for (const name of ['source', 'token', 'allowedHosts'] as const)
    refuseMisfit('inspectorHandler', name, options[name], needed[name])
  const site = new Site(options)
  return Object.assign((request: Request) => site.answer(request), { close: () => site.close() })
}

class Site {
  readonly #source: Source
  readonly #guard: HttpGuard
  readonly #pageGuard: HttpGuard
  readonly #can: Abilities
  readonly #path: string
  readonly #summaries: Summaries
  readonly #past: PastWorlds
  readonly #present: Present
  readonly #spans: Spans
  readonly #streams = new Set<LiveStream>()

  constructor({ actions = false, allowedHosts, path = '/', source, token }: InspectorHandlerOptions) {
    const isLiving = source.runner !== undefined
    const mayCopy = actions && (isLiving || source.copies !== undefined)
    this.#source = mayCopy && source.copies === undefined ? new CopyingSource(source) : source
    this.#guard = new HttpGuard(allowedHosts, token)
    // The page itself is the same for all, and asks for the data with the token.
    this.#pageGuard = new HttpGuard(allowedHosts, false)
    this.#path = path.endsWith('/') ? path : `${path}/`
    const drivers = mayCopy ? (this.#source.copies?.drivers ?? []) : []
    this.#can = { act: actions && isLiving, fork: mayCopy, drivers }
    this.#summaries = new Summaries(this.#source)
    this.#past = new PastWorlds(this.#source)
    this.#present = new Present(this.#source)
    this.#spans = new Spans(this.#source)
  }

  async close(): Promise<void> {
    for (const stream of this.#streams) stream.close()
    await this.#source.close()
  }

  async answer(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const at = url.pathname.startsWith(this.#path) ? url.pathname.slice(this.#path.length) : undefined
    const isData = at !== undefined && at.startsWith('api/')
    const { headers } = request
    const refusal = (isData ? this.#guard : this.#pageGuard).refusal({
      authorization: headers.get('authorization'),
      // Where a server gives no Host header on, its address says it.
      host: headers.get('host') ?? url.host,
      origin: headers.get('origin'),
    })
    if (refusal !== undefined) return problem(403, { code: 'forbidden', message: refusal.message })
    try {
      if (!isData) return await page(request, at)
      return await this.#data(request, at.slice('api/'.length), url.searchParams)
    } catch (error) {
      return problemOf(error)
    }
  }

  async #data(request: Request, route: string, query: URLSearchParams): Promise<Response> {
    const source = this.#source
    if (request.method === 'POST') return this.#posted(route, await bodyOf(request))
    if (request.method !== 'GET')
      return problem(405, { code: 'not-found', message: `${request.method} is not taken here.` })
    const world = query.get('world') ?? ''
    switch (route) {
      case 'source':
        return json(this.#info())
      case 'worlds': {
        const worlds = await source.worlds()
        const offset = countIn(query, 'offset') ?? 0
        const limit = Math.min(countIn(query, 'limit') ?? maxListed, maxListed)
        return json({ worlds: worlds.slice(offset, offset + limit), total: worlds.length })
      }
      case 'ticks': {
        const [from, to] = [countIn(query, 'from'), countIn(query, 'to')]
        return json(await ticksOf(source, { world, from, to, snapshot: query.get('snapshot') === 'true' }))
      }
      case 'marks':
        return json(await marksIn(source, world, countIn(query, 'from') ?? 0, countIn(query, 'to') ?? Infinity))
      case 'calls':
        return json(await callsOf(source, world, countIn(query, 'from') ?? 0, countIn(query, 'to') ?? Infinity))
      case 'request': {
        const [tick = 0, effect = 0] = [countIn(query, 'tick'), countIn(query, 'effect')]
        return json(await requestAt(source, this.#past, { world, tick, effect }))
      }
      case 'cache': {
        const [from = 0, to = Infinity] = [countIn(query, 'from'), countIn(query, 'to')]
        return json(await cacheOf(source, this.#past, { world, from, to }))
      }
      case 'spending':
        return json(
          await spendingAt(this.#past, {
            world,
            tick: countIn(query, 'tick') ?? 0,
            agent: countIn(query, 'agent') ?? 0,
          }),
        )
      case 'inbox':
        return json(await this.#present.inbox(query.get('approval') ?? undefined))
      case 'waits':
        return json(await this.#present.waits(query.get('root') ?? ''))
      case 'live':
        return this.#live(request, query)
      case 'text':
        return json({ text: await source.text(query.get('root') ?? '', query.get('key') ?? '') })
      case 'transcript':
        return json({ lines: await transcriptOf(source, query) })
      case 'tokens': {
        const [tick = 0, agent = 0, from = 0, to = 0] = ['tick', 'agent', 'from', 'to'].map((name) =>
          countIn(query, name),
        )
        return json(await tokensOf(this.#past, { world, tick, agent, from, to }))
      }
      default:
        return problem(404, { code: 'not-found', message: `There is nothing at api/${route}.` })
    }
  }

  async #posted(route: string, body: unknown): Promise<Response> {
    switch (route) {
      case 'summaries': {
        const { worlds } = (body ?? {}) as { readonly worlds?: unknown }
        if (!isTexts(worlds)) throw new EntiaError('invalid-argument', `'worlds' must be a list of names of worlds.`)
        const summaries = await this.#summaries.of(worlds.slice(0, maxSummaries))
        return json({ summaries, dateMs: this.#source.runner?.host.clock.date() } satisfies SummariesReply)
      }
      case 'spans': {
        const { worlds } = (body ?? {}) as { readonly worlds?: unknown }
        if (!isSpansOf(worlds))
          throw new EntiaError('invalid-argument', `'worlds' must be a list of { world, after?, to? }.`)
        return json(await this.#spans.of(worlds))
      }
      case 'act': {
        const reply = await act(this.#source, this.#can, body)
        return !reply.ok && reply.problem.code === 'forbidden' ? problem(403, reply.problem) : json(reply)
      }
      default:
        return problem(404, { code: 'not-found', message: `There is nothing to post to at api/${route}.` })
    }
  }

  #info(): SourceInfo {
    const { components, kind, run, title } = this.#source
    return { kind, title, version, can: this.#can, components: rawComponents(components), run }
  }

  async #live(request: Request, query: URLSearchParams): Promise<Response> {
    const world = query.get('world') ?? undefined
    if (world !== undefined && (await this.#source.entry(world)) === undefined) throw noSuchWorld(this.#source, world)
    const last = request.headers.get('last-event-id')
    const after = last === null ? countIn(query, 'after') : wholeNumber('Last-Event-ID', last)
    const stream = new LiveStream(this.#source, { world, after })
    this.#streams.add(stream)
    const end = (): void => {
      this.#streams.delete(stream)
      stream.close()
    }
    request.signal.addEventListener('abort', end, { once: true })
    return new Response(stream.body, { headers: { ...safe, 'Content-Type': 'text/event-stream' } })
  }
}

/** Nothing of it is kept, shown within another page, or says where it came from. */
const safe: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

async function page(request: Request, at: string | undefined): Promise<Response> {
  if (at === undefined || !['GET', 'HEAD'].includes(request.method))
    return problem(404, { code: 'not-found', message: 'There is nothing here.' })
  const name = at === '' ? 'index.html' : at
  const files = await pageFiles()
  const file = files.get(name)
  if (file === undefined) return problem(404, { code: 'not-found', message: 'There is nothing here.' })
  const type = contentTypes[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  return new Response(request.method === 'HEAD' ? null : file, { headers: { ...safe, 'Content-Type': type } })
}

function json(data: unknown): Response {
  const headers = { ...safe, 'Content-Type': 'application/json; charset=utf-8' }
  return new Response(JSON.stringify(data), { headers })
}

function problem(status: number, { code, message }: Problem): Response {
  const headers = { ...safe, 'Content-Type': 'application/json; charset=utf-8' }
  return new Response(JSON.stringify({ code, message } satisfies Problem), { status, headers })
}

function problemOf(error: unknown): Response {
  if (error instanceof ForbiddenError) return problem(403, { code: 'forbidden', message: error.message })
  if (error instanceof EntiaError) {
    const status = error.code === 'no-such-world' ? 404 : 400
    return problem(status, { code: error.code, message: error.message })
  }
  return problem(500, { code: 'internal', message: error instanceof Error ? error.message : 'An unknown error.' })
}

async function bodyOf(request: Request): Promise<unknown> {
  const body = await request.text()
  if (body.length > maxBodyBytes)
    throw new EntiaError('invalid-argument', `The body must have at most ${maxBodyBytes} characters.`)
  try {
    return JSON.parse(body) as unknown
  } catch {
    throw new EntiaError('invalid-argument', 'The body must be JSON.')
  }
}

function countIn(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name)
  return given === null ? undefined : wholeNumber(name, given)
}

function wholeNumber(name: string, given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw new EntiaError('invalid-argument', `${name} must be an integer ≥ 0, got '${given.slice(0, 40)}'.`)
}

async function transcriptOf(source: Source, query: URLSearchParams): Promise<readonly string[] | undefined> {
  const root = query.get('root') ?? ''
  const session = query.get('session')
  const agent = countIn(query, 'agent')
  if (agent === undefined) return source.transcript(root, query.get('key') ?? '')
  return source.transcript(root, session === null ? await agentKey(root, agent) : sessionKey(session))
}

function isTexts(given: unknown): given is readonly string[] {
  return Array.isArray(given) && given.every((one) => typeof one === 'string')
}

function isSpansOf(given: unknown): given is readonly SpansOf[] {
  return (
    Array.isArray(given) &&
    given.every((one: Partial<SpansOf> | null) => typeof one?.world === 'string' && isTick(one.after) && isTick(one.to))
  )
}

function isTick(given: unknown): boolean {
  return given === undefined || (Number.isSafeInteger(given) && (given as number) >= 0)
}
