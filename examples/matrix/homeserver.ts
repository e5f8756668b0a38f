import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { inspect } from 'node:util'

/**
 * A small homeserver on this machine: the part of the Matrix client API that `entia/matrix` uses, over HTTP, in memory. It stands in for
 * a real one in an example and in tests. It has no federation, no encryption, and no rights: whoever is in a room may do all.
 */
export interface RoomEvent {
  readonly event_id: string
  readonly type: string
  readonly sender: string
  readonly content: Readonly<Record<string, unknown>>
  readonly state_key?: string
  readonly unsigned?: Readonly<Record<string, unknown>>
  readonly origin_server_ts: number
}

/** A request, before it is answered. */
export interface ServedRequest {
  readonly method: string
  /** Behind `/_matrix/client`, decoded: `/v3/sync`. */
  readonly path: string
  readonly query: URLSearchParams
  /** How many requests were before it. */
  readonly index: number
}

/**
 * What goes wrong with a request: another answer; the connection breaks before it is handled (`lost`) or after (`reply-lost`); or
 * a sync says again what the one before it said (`repeated`).
 */
export type Fault =
  | 'lost'
  | 'reply-lost'
  | 'repeated'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }

interface Placed {
  readonly at: number
  readonly event: RoomEvent
}

interface Room {
  readonly id: string
  readonly alias: string
  readonly events: Placed[]
  /** Who joined or was invited, and when. */
  readonly members: Map<string, { readonly membership: 'join' | 'invite'; readonly at: number; readonly by: string }>
}

interface Login {
  readonly userId: string
  readonly deviceId: string
}

class Refusal extends Error {
  readonly status: number
  readonly errcode: string
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, errcode: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.errcode = errcode
    this.headers = headers
  }
}

export class LocalHomeserver {
  /** Called for each request. @default nothing goes wrong */
  fault: (request: ServedRequest) => Fault | undefined = () => undefined
  /** Method and path of each request, in order. */
  readonly requests: string[] = []
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  readonly #passwords = new Map<string, string>()
  readonly #rooms = new Map<string, Room>()
  #logins = new Map<string, Login>()
  /** Events by the device and transaction that sent them. */
  readonly #sent = new Map<string, string>()
  readonly #waiting = new Set<() => void>()
  /** Where the last sync of each user began, and the one before it. */
  readonly #sinces = new Map<string, readonly [string | null, string | null]>()
  #at = 0
  #made = 0

  /** Starts it on a free port. */
  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this.url
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    for (const wake of this.#waiting) wake()
    await once(this.#server, 'close')
  }

  /** @returns its id */
  addUser(name: string, password: string): string {
    const id = `@${name}:local`
    this.#passwords.set(id, password)
    return id
  }

  /** @returns its id */
  addRoom(name: string, members: readonly string[], { isEncrypted = false } = {}): string {
    const id = `!${name}:local`
    const alias = `#${name}:local`
    const room: Room = { id, alias, events: [], members: new Map() }
    this.#rooms.set(id, room)
    for (const member of members) this.#join(room, member)
    const [creator = '@nobody:local'] = members
    this.state(id, creator, 'm.room.name', { name })
    if (isEncrypted) this.state(id, creator, 'm.room.encryption', { algorithm: 'm.megolm.v1.aes-sha2' })
    return id
  }

  invite(roomId: string, by: string, userId: string): void {
    const room = this.#room(roomId)
    room.members.set(userId, { membership: 'invite', at: ++this.#at, by })
    this.#changed()
  }

  /** Says something in a room. @returns the event's id */
  say(roomId: string, sender: string, body: string): string {
    return this.add(roomId, sender, 'm.room.message', { msgtype: 'm.text', body })
  }

  react(roomId: string, sender: string, to: string, key: string): string {
    return this.add(roomId, sender, 'm.reaction', { 'm.relates_to': { rel_type: 'm.annotation', event_id: to, key } })
  }

  state(roomId: string, sender: string, type: string, content: object): string {
    return this.add(roomId, sender, type, content, { state_key: '' })
  }

  /** @returns the event's id */
  add(roomId: string, sender: string, type: string, content: object, more: Partial<RoomEvent> = {}): string {
    const id = `$${++this.#made}`
    const event = { ...more, event_id: id, type, sender, content: { ...content }, origin_server_ts: this.#made }
    this.#room(roomId).events.push({ at: ++this.#at, event })
    this.#changed()
    return id
  }

  /** All that was said in a room, in order; reactions and states are left out. */
  said(roomId: string, sender?: string): RoomEvent[] {
    return this.#room(roomId)
      .events.map(({ event }) => event)
      .filter((event) => event.type === 'm.room.message' && (sender === undefined || event.sender === sender))
  }

  isIn(roomId: string, userId: string): boolean {
    return this.#room(roomId).members.get(userId)?.membership === 'join'
  }

  /** Access tokens are not known any more. */
  forgetTokens(): void {
    this.#logins = new Map()
  }

  /** Resolves with what is looked for, once something in a room, or a request, makes it so. */
  async until<T>(found: () => T | undefined | false): Promise<T> {
    for (;;) {
      const value = found()
      if (value !== undefined && value !== false) return value
      await this.#change()
    }
  }

  async #change(milliseconds?: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = milliseconds === undefined ? undefined : setTimeout(resolve, milliseconds)
    this.#waiting.add(resolve)
    await promise
    this.#waiting.delete(resolve)
    clearTimeout(timer)
  }

  #changed(): void {
    for (const wake of this.#waiting) wake()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request
    const { pathname, searchParams: query } = new URL(url, 'http://localhost')
    const path = decodeURIComponent(pathname.replace('/_matrix/client', ''))
    const served = { method, path, query, index: this.requests.length }
    this.requests.push(`${method} ${path}`)
    this.#changed()
    const fault = this.fault(served)
    if (fault === 'lost') return void request.socket.destroy()
    const isGone = new Promise<void>((resolve) => response.on('close', resolve))
    try {
      if (typeof fault === 'object') {
        const { body = { errcode: 'M_UNKNOWN', error: 'planned' }, headers, status } = fault
        return answer(response, status, body, headers)
      }
      const body = request.method === 'GET' ? {} : ((await json(request)) as Record<string, unknown>)
      const given = await this.#handle(served, body, request.headers.authorization ?? '', {
        isRepeated: fault === 'repeated',
        isGone,
      })
      if (fault === 'reply-lost') request.socket.destroy()
      else answer(response, 200, given)
    } catch (error) {
      if (error instanceof Refusal)
        answer(response, error.status, { errcode: error.errcode, error: error.message }, error.headers)
      else answer(response, 500, { errcode: 'M_UNKNOWN', error: inspect(error) })
    }
  }

  async #handle(
    { method, path, query }: ServedRequest,
    body: Readonly<Record<string, unknown>>,
    authorization: string,
    sync: { readonly isRepeated: boolean; readonly isGone: Promise<void> },
  ): Promise<unknown> {
    const [, , first = '', ...rest] = path.split('/')
    const call = `${method} ${first}`
    if (call === 'GET versions') return { versions: ['v1.11'] }
    if (call === 'POST login') return this.#logIn(body)
    const token = authorization.replace('Bearer ', '')
    const login = this.#logins.get(token)
    if (login === undefined) throw new Refusal(401, 'M_UNKNOWN_TOKEN', 'Unknown access token')
    const { deviceId, userId } = login
    if (call === 'GET account') return { user_id: userId, device_id: deviceId }
    if (call === 'POST logout') return this.#logins.delete(token) && {}
    if (call === 'GET sync') return this.#sync(userId, query, sync)
    if (call === 'GET joined_rooms')
      return { joined_rooms: [...this.#rooms.keys()].filter((id) => this.isIn(id, userId)) }
    if (call === 'GET directory') return { room_id: this.#room(rest[1] ?? '').id }
    const room = this.#room(rest[0] ?? '')
    if (call === 'POST join') {
      if (!this.isIn(room.id, userId)) this.#join(room, userId)
      return { room_id: room.id }
    }
    if (!this.isIn(room.id, userId)) throw new Refusal(403, 'M_FORBIDDEN', 'You are not in this room')
    const [, what, ...more] = rest
    if (what === 'state') {
      const found = room.events.findLast(({ event }) => event.type === more[0] && event.state_key === '')
      if (found === undefined) throw new Refusal(404, 'M_NOT_FOUND', 'Event not found')
      return found.event.content
    }
    if (what === 'relations') {
      const chunk = room.events.map(({ event }) => event).filter((event) => relatesTo(event) === more[0])
      return { chunk: query.get('dir') === 'f' ? chunk : chunk.toReversed() }
    }
    if (what === 'messages') return messages(room, query)
    if (what === 'send') {
      const [type = '', transaction = ''] = more
      const key = `${deviceId} ${room.id} ${transaction}`
      const id = this.#sent.get(key) ?? this.add(room.id, userId, type, body)
      this.#sent.set(key, id)
      return { event_id: id }
    }
    throw new Refusal(404, 'M_UNRECOGNIZED', `${method} ${path} is not there`)
  }

  #logIn({ device_id: device, identifier, password }: Readonly<Record<string, unknown>>): unknown {
    const { user = '' } = identifier as { readonly user?: string }
    const userId = user.startsWith('@') ? user : `@${user}:local`
    if (!this.#passwords.has(userId) || this.#passwords.get(userId) !== password)
      throw new Refusal(403, 'M_FORBIDDEN', 'Invalid username or password')
    const deviceId = typeof device === 'string' ? device : `DEVICE${++this.#made}`
    for (const [token, login] of this.#logins) if (login.deviceId === deviceId) this.#logins.delete(token)
    const token = `token-${++this.#made}`
    this.#logins.set(token, { userId, deviceId })
    return { user_id: userId, device_id: deviceId, access_token: token }
  }

  #join(room: Room, userId: string): void {
    room.members.set(userId, { membership: 'join', at: this.#at + 1, by: userId })
    this.add(room.id, userId, 'm.room.member', { membership: 'join' }, { state_key: userId })
  }

  async #sync(
    userId: string,
    query: URLSearchParams,
    { isGone, isRepeated }: { readonly isRepeated: boolean; readonly isGone: Promise<void> },
  ): Promise<unknown> {
    const asked = query.get('since')
    const [before = null] = this.#sinces.get(userId) ?? []
    const since = isRepeated && asked !== null && placeOf(before) < placeOf(asked) ? before : asked
    this.#sinces.set(userId, [asked, before])
    const limitMs = Number(query.get('timeout') ?? 0)
    const isOver = Promise.race([isGone, new Promise((resolve) => void setTimeout(resolve, limitMs).unref())])
    for (let isWaiting = limitMs > 0 && since !== null; ;) {
      const found = this.#news(userId, since, query)
      if (!isWaiting || Object.keys(found.rooms.join).length > 0 || Object.keys(found.rooms.invite).length > 0)
        return found
      isWaiting = await Promise.race([this.#change(limitMs).then(() => true), isOver.then(() => false)])
    }
  }

  #news(userId: string, since: string | null, query: URLSearchParams) {
    const { limit = 10, types } = timelineOf(query)
    const from = placeOf(since)
    const join: Record<string, unknown> = {}
    const invite: Record<string, unknown> = {}
    for (const { events, id, members } of this.#rooms.values()) {
      const member = members.get(userId)
      if (member?.membership === 'invite' && member.at > from) {
        const event = { type: 'm.room.member', sender: member.by, state_key: userId, content: { membership: 'invite' } }
        invite[id] = { invite_state: { events: [event] } }
      }
      if (member?.membership !== 'join') continue
      const isNew = since === null || member.at > from
      const found = events.filter(({ at, event }) => (isNew || at > from) && (types?.includes(event.type) ?? true))
      const shown = found.slice(-limit)
      const states = isNew
        ? events.filter(({ event }) => event.state_key === '' && event.type.startsWith('m.room.'))
        : []
      if (shown.length === 0) continue
      join[id] = {
        timeline: {
          events: shown.map(({ event }) => event),
          limited: shown.length < found.length,
          prev_batch: `s${(shown[0]?.at ?? 1) - 1}`,
        },
        state: { events: states.map(({ event }) => event) },
      }
    }
    return { next_batch: `s${this.#at}`, rooms: { join, invite } }
  }

  #room(id: string): Room {
    const room = this.#rooms.get(id) ?? [...this.#rooms.values()].find(({ alias }) => alias === id)
    if (room === undefined) throw new Refusal(404, 'M_NOT_FOUND', `There is no room ${id}`)
    return room
  }
}

function messages({ events }: Room, query: URLSearchParams): unknown {
  const [from, to] = [placeOf(query.get('from')), placeOf(query.get('to'))]
  const found = events.filter(({ at }) => at <= from && at > to).toReversed()
  const page = found.slice(0, Number(query.get('limit') ?? 10))
  const isMore = page.length < found.length
  return { chunk: page.map(({ event }) => event), ...(isMore && { end: `s${(page.at(-1)?.at ?? 1) - 1}` }) }
}

function relatesTo({ content }: RoomEvent): unknown {
  return (content['m.relates_to'] as { readonly event_id?: unknown } | undefined)?.event_id
}

function placeOf(token: string | null): number {
  return token === null ? 0 : Number(token.slice(1))
}

interface Timeline {
  readonly limit?: number
  readonly types?: readonly string[]
}

function timelineOf(query: URLSearchParams): Timeline {
  const filter = JSON.parse(query.get('filter') ?? '{}') as { readonly room?: { readonly timeline?: Timeline } }
  return filter.room?.timeline ?? {}
}

function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
