import { batch } from '@preact/signals'
import type { LiveEvents, LiveQuery, Problem } from '../../reading/wire.ts'

/** An error of the server in a person's words. */
export class ProblemError extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.message)
    this.problem = problem
  }
}

export type LiveHandlers = {
  readonly [Name in keyof LiveEvents]: (data: LiveEvents[Name], id: string | undefined) => void
} & {
  /** With a problem where there is an answer, which will not be another one. */
  readonly state: (state: 'open' | 'lost', problem?: Problem) => void
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** How long a stream may be silent: the server says something every 15 seconds. */
const maxSilenceMs = 40_000
const firstRetryMs = 250
const maxRetryMs = 5_000

/** Where the page gets its data from. */
export interface Connection {
  get<Reply>(route: string, query?: object): Promise<Reply>
  post<Reply>(route: string, body: object): Promise<Reply>
  /** Streams what is new, and goes on by itself after a cut. Returns a function that ends it. */
  live(query: () => LiveQuery, handlers: LiveHandlers): () => void
}

/** The server that the page came from. */
export class ServerConnection implements Connection {
  readonly #token: string
  readonly #base = new URL('.', location.href)

  constructor(token: string) {
    this.#token = token
  }

  async get<Reply>(route: string, query: object = {}): Promise<Reply> {
    return replyOf<Reply>(await this.#fetch(route, query as Query, {}))
  }

  async post<Reply>(route: string, body: object): Promise<Reply> {
    return replyOf<Reply>(await this.#fetch(route, {}, { method: 'POST', body: JSON.stringify(body) }))
  }

  live(query: () => LiveQuery, handlers: LiveHandlers): () => void {
    const ended = new AbortController()
    void this.#follow(query, handlers, ended.signal)
    return () => ended.abort()
  }

  async #follow(query: () => LiveQuery, handlers: LiveHandlers, signal: AbortSignal): Promise<void> {
    let waitMs = firstRetryMs
    let isLost = false
    while (!signal.aborted) {
      try {
        const response = await this.#fetch('live', { ...query() }, { signal })
        if (!response.ok) throw new ProblemError((await response.json()) as Problem)
        handlers.state('open')
        isLost = false
        waitMs = firstRetryMs
        await readEvents(response.body as ReadableStream<Uint8Array>, handlers)
      } catch (error) {
        // It is tried again below: also by who is refused, since the program may be another one for now.
        if (!signal.aborted && error instanceof ProblemError) handlers.state('lost', error.problem)
      }
      if (signal.aborted) return
      if (!isLost) handlers.state('lost')
      isLost = true
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      waitMs = Math.min(2 * waitMs, maxRetryMs)
    }
  }

  #fetch(route: string, query: Query, init: RequestInit): Promise<Response> {
    const url = new URL(`api/${route}`, this.#base)
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value))
    return fetch(url, { ...init, headers: { Authorization: `Bearer ${this.#token}` } })
  }
}

async function replyOf<Reply>(response: Response): Promise<Reply> {
  if (response.ok) return (await response.json()) as Reply
  const problem = (await response.json().catch(() => undefined)) as Problem | undefined
  throw new ProblemError(problem ?? { code: 'internal', message: `The server answered ${response.status}.` })
}

async function readEvents(body: ReadableStream<Uint8Array>, handlers: LiveHandlers): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await withinSilence(reader)
    if (done) return
    text += value
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    // What came together is shown at once.
    batch(() => {
      for (const event of events) handle(event, handlers)
    })
  }
}

async function withinSilence(reader: ReadableStreamDefaultReader<string>): Promise<ReadableStreamReadResult<string>> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error('The server is silent.'))
      void reader.cancel()
    }, maxSilenceMs)
  })
  try {
    return await Promise.race([reader.read(), silence])
  } finally {
    clearTimeout(timer)
  }
}

function handle(event: string, handlers: LiveHandlers): void {
  const fields = new Map<string, string>()
  for (const line of event.split('\n')) {
    const colon = line.indexOf(': ')
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2))
  }
  const name = fields.get('event') as keyof LiveEvents | undefined
  const data = fields.get('data')
  if (name === undefined || data === undefined || !Object.hasOwn(handlers, name)) return
  const act = handlers[name] as (data: unknown, id: string | undefined) => void
  act(JSON.parse(data), fields.get('id'))
}
