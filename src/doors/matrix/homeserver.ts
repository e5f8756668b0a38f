import type { HTTPError, MatrixClient } from 'matrix-js-sdk'
import type { Logger } from 'matrix-js-sdk/lib/logger.js'
import type { Clock } from '../../engine/loop/clock.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { optionalPackages } from '../../base/optional-packages.ts'
import { canceled, pause } from './pause.ts'

/** The account that a program speaks for. */
export interface Account {
  /** The homeserver's address. */
  readonly server: string
  readonly userId: string
  readonly deviceId: string
  readonly accessToken: string
}

export interface HomeserverOptions {
  readonly clock: Clock
  /** Ends what is under way. */
  readonly signal?: AbortSignal | undefined
  /** Tries before a request that 429, 5xx or the network fails is given up. @default oneShotTries */
  readonly maxTries?: number | undefined
  /** Makes a new account of a refused one: logs in again. @default a refused token is an error */
  readonly renew?: ((refused: Account) => Promise<Account>) | undefined
  readonly onNotice?: ((notice: string) => unknown) | undefined
}

/** A request to the homeserver. */
export interface MatrixRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Behind the prefix; its parts are encoded already. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: object
  /** @default the client API's, version 3 */
  readonly prefix?: string
  /** How long the server may hold its answer back, in milliseconds. @default 0 */
  readonly holdMs?: number
  /** @default as the options say */
  readonly maxTries?: number
  /** The caller holds the clock, which may run on while this waits. */
  readonly isHeld?: boolean
}

/** Tries of one request where no loop stands behind it. */
const oneShotTries = 5
const firstWaitMs = 1_000
const maxWaitMs = 60_000
/** A server that names a longer time is asked again after this one. */
const maxRetryAfterMs = 3_600_000
/** How long an answer may take, besides the time that it is held back. */
const answerMs = 30_000

/** The homeserver of one account, through the SDK: requests that wait where it is busy or out of reach, and log in again. */
export class Homeserver {
  #account: Account
  #client: MatrixClient
  readonly #options: HomeserverOptions
  #renewing: Promise<void> | undefined
  /** Requests are failing; said once, until one succeeds. */
  #isDown = false

  private constructor(account: Account, client: MatrixClient, options: HomeserverOptions) {
    this.#account = account
    this.#client = client
    this.#options = options
  }

  /** @throws by its promise: `missing-peer` */
  static async of(account: Account, options: HomeserverOptions): Promise<Homeserver> {
    return new Homeserver(account, await clientOf(account), options)
  }

  get userId(): string {
    return this.#account.userId
  }

  /**
   * The body of the answer. 429, 5xx and network errors are tried again after a while, as often as the options allow.
   *
   * @throws by its promise: `matrix-failed`, with `status` and `errcode` where the server answered; the signal's reason
   */
  async request(request: MatrixRequest): Promise<unknown> {
    const onDown = (error: EntiaError, waitMs: number): void => this.#down(error, waitMs)
    try {
      const body = await patiently(request, { ...this.#options, onDown }, () => this.#once(request))
      this.#up()
      return body
    } catch (error) {
      // A refusal is an answer.
      if (isRefusal(error)) this.#up()
      throw error
    }
  }

  /** Joins a room by its id or alias; gives its id. @throws by its promise: as `request` */
  async join(room: string): Promise<string> {
    const { room_id: id } = (await this.request({
      method: 'POST',
      path: `/join/${encodeURIComponent(room)}`,
      body: {},
      // A room whose own server is gone must not be tried for ever.
      maxTries: oneShotTries,
    })) as { readonly room_id?: unknown }
    if (typeof id === 'string') return id
    throw new EntiaError('matrix-failed', `The homeserver did not say the id of the room ${room} that it joined.`)
  }

  /** Sends an event once, however often this is called with the same transaction id. Gives the event's id. */
  async send(roomId: string, content: object, transaction: string): Promise<string> {
    const path = `/rooms/${encodeURIComponent(roomId)}/send/m.room.message/${encodeURIComponent(transaction)}`
    const { event_id: id } = (await this.request({ method: 'PUT', path, body: content })) as {
      readonly event_id?: unknown
    }
    if (typeof id === 'string') return id
    throw new EntiaError('matrix-failed', `The homeserver did not say the id of the event sent to ${roomId}.`)
  }

  /** The content of a state event; `undefined` where the room has none. */
  async state(roomId: string, type: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    try {
      const path = `/rooms/${encodeURIComponent(roomId)}/state/${type}/`
      return (await this.request({ method: 'GET', path })) as Record<string, unknown>
    } catch (error) {
      if (isRefusal(error, 404)) return undefined
      throw error
    }
  }

  async #once(request: MatrixRequest): Promise<unknown> {
    const refused = this.#account
    try {
      return await this.#send(request)
    } catch (error) {
      const { renew } = this.#options
      if (renew === undefined || !isUnknownToken(error)) throw error
      if (this.#account === refused) await (this.#renewing ??= this.#renew(refused, renew))
      return this.#send(request)
    }
  }

  async #renew(refused: Account, renew: (refused: Account) => Promise<Account>): Promise<void> {
    try {
      const account = await renew(refused)
      this.#client = await clientOf(account)
      this.#account = account
    } finally {
      this.#renewing = undefined
    }
  }

  async #send({ body, holdMs = 0, method, path, prefix, query = {} }: MatrixRequest): Promise<unknown> {
    const { clock, signal } = this.#options
    signal?.throwIfAborted()
    const late = new AbortController()
    const abort = (): void => late.abort()
    signal?.addEventListener('abort', abort)
    const isInTime = clock.at(clock.now() + holdMs + answerMs, abort)
    clock.begin?.()
    try {
      const options = { abortSignal: late.signal, priority: 'auto' as const, ...(prefix !== undefined && { prefix }) }
      // The SDK's own time limit keeps its timer, and with it the process.
      return await this.#client.http.authedRequest<object>(methods[method], path, { ...query }, body, options)
    } finally {
      clock.end?.()
      isInTime()
      signal?.removeEventListener('abort', abort)
    }
  }

  #down(error: EntiaError, waitMs: number): void {
    if (this.#isDown) return
    this.#isDown = true
    this.#options.onNotice?.(`${error.message} Trying again in ${Math.ceil(waitMs / 1_000)} s, until it answers.`)
  }

  #up(): void {
    if (this.#isDown) this.#options.onNotice?.('The homeserver answers again.')
    this.#isDown = false
  }
}

interface Patience extends HomeserverOptions {
  /** Called before each wait. */
  readonly onDown?: (error: EntiaError, waitMs: number) => void
}

/** Tries until it succeeds, or fails in a way that later tries do not mend. */
async function patiently<T>(request: MatrixRequest, options: Patience, attempt: () => Promise<T>): Promise<T> {
  const { clock, onDown, signal } = options
  const { maxTries = options.maxTries ?? oneShotTries } = request
  for (let tries = 1, waitMs = firstWaitMs; ; tries++, waitMs = Math.min(waitMs * 2, maxWaitMs)) {
    try {
      return await attempt()
    } catch (error) {
      if (signal?.aborted === true) throw canceled(signal)
      const failed = failureOf(error, request, clock.date())
      const pauseMs = Math.min(failed.retryAfterMs ?? waitMs, maxRetryAfterMs)
      const isTooLong = maxTries < Infinity && pauseMs > maxWaitMs
      if (!failed.isPassing || tries >= maxTries || isTooLong) throw failed.error
      onDown?.(failed.error, pauseMs)
      if (request.isHeld === true) clock.end?.()
      try {
        await pause(clock, pauseMs, signal)
      } finally {
        if (request.isHeld === true) clock.begin?.()
      }
    }
  }
}

/** The SDK names methods by an enum, whose values are these. */
const methods = { GET: 'GET', POST: 'POST', PUT: 'PUT' } as Record<MatrixRequest['method'], never>

export interface Login {
  readonly server: string
  readonly user: string
  readonly password: string
  /** The device to stay: the homeserver knows what it has sent. @default a new one */
  readonly deviceId?: string | undefined
}

/**
 * Logs in with a password. Waits and tries again as requests do.
 *
 * @throws by its promise: `matrix-failed`, `missing-peer`
 */
export async function logIn({ deviceId, password, server, user }: Login, options: HomeserverOptions): Promise<Account> {
  const client = await clientOf({ server })
  const { clock } = options
  return patiently({ method: 'POST', path: '/login' }, options, async () => {
    clock.begin?.()
    try {
      const given = await client.loginRequest({
        type: 'm.login.password',
        identifier: { type: 'm.id.user', user },
        password,
        ...(deviceId === undefined ? { initial_device_display_name: 'Entia' } : { device_id: deviceId }),
      })
      const { access_token: accessToken, device_id: device, user_id: userId } = given
      return { server, userId, deviceId: device, accessToken }
    } finally {
      clock.end?.()
    }
  })
}

async function clientOf(account: Partial<Account> & { readonly server: string }): Promise<MatrixClient> {
  const { createClient } = await optionalPackages('entia/matrix', ['matrix-js-sdk'], () => import('matrix-js-sdk'))
  const { accessToken, deviceId, server, userId } = account
  return createClient({
    baseUrl: server,
    logger: silence,
    fetchFn: plainFetch,
    ...(accessToken !== undefined && { accessToken }),
    ...(deviceId !== undefined && { deviceId }),
    ...(userId !== undefined && { userId }),
  })
}

/** The SDK drops the cause of an error; what says why stands there. */
const plainFetch: typeof fetch = async (input, init) => {
  try {
    return await fetch(input, init)
  } catch (error) {
    throw (error instanceof Error && rootOf(error)) || error
  }
}

/** What the SDK has to say goes nowhere: what matters comes as errors. */
const silence: Logger = {
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  getChild: () => silence,
}

function ignore(): void {}

interface Failed {
  readonly error: EntiaError
  /** It may succeed later. */
  readonly isPassing: boolean
  readonly retryAfterMs?: number | undefined
}

/** What a request has failed with, for programs and for people. Neither token nor password is in it. */
function failureOf(error: unknown, { method, path }: MatrixRequest, dateMs: number): Failed {
  const what = `${method} ${path}`
  if (!(error instanceof Error)) throw error
  if (error instanceof EntiaError) return { error, isPassing: false }
  if (!isHttp(error)) {
    const why = error.name === 'AbortError' ? 'it did not answer in time' : error.message
    const said = `The homeserver cannot be reached, or is none: ${why} (${what}).`
    const failed = new EntiaError('matrix-failed', said, {}, { cause: error })
    return { error: failed, isPassing: true }
  }
  const { httpStatus: status = 0, httpHeaders } = error
  const { errcode, data } = error as {
    readonly errcode?: string
    readonly data?: { readonly error?: string; readonly retry_after_ms?: unknown }
  }
  const said = `${status}${errcode === undefined ? '' : ` ${errcode}`}${data?.error === undefined ? '' : `: ${data.error}`}`
  const failed = new EntiaError(
    'matrix-failed',
    `The homeserver answered ${said} (${what}).`,
    {
      status,
      ...(errcode !== undefined && { errcode }),
    },
    { cause: error },
  )
  return {
    error: failed,
    isPassing: status === 429 || status === 408 || status >= 500 || errcode === 'M_LIMIT_EXCEEDED',
    retryAfterMs: retryAfter(httpHeaders?.get('Retry-After') ?? undefined, data?.retry_after_ms, dateMs),
  }
}

function isHttp(error: Error): error is HTTPError {
  return 'httpStatus' in error
}

function rootOf(error: Error): Error | undefined {
  return error.cause instanceof Error ? (rootOf(error.cause) ?? error.cause) : undefined
}

/** Milliseconds to wait, by the header (seconds, or a date) or the body's older field. */
function retryAfter(header: string | undefined, field: unknown, dateMs: number): number | undefined {
  if (header !== undefined && /^\d+$/.test(header)) return Number(header) * 1_000
  const date = header === undefined ? NaN : Date.parse(header)
  if (!Number.isNaN(date)) return Math.max(date - dateMs, 0)
  return typeof field === 'number' && field >= 0 ? field : undefined
}

function isUnknownToken(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 'M_UNKNOWN_TOKEN'
}

/** Did the server answer, with one of these statuses; without any: with one that later tries do not mend? */
export function isRefusal(error: unknown, ...statuses: readonly number[]): error is EntiaError {
  if (!(error instanceof EntiaError) || error.code !== 'matrix-failed') return false
  const { errcode, status } = error.details
  if (typeof status !== 'number' || errcode === 'M_UNKNOWN_TOKEN') return false
  return statuses.length > 0
    ? statuses.includes(status)
    : status >= 400 && status < 500 && status !== 408 && status !== 429
}
