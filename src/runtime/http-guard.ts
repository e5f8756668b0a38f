import { createHash, timingSafeEqual } from 'node:crypto'

/** What a request says of who asks, and from where. */
interface AskedBy {
  readonly authorization: string | null
  readonly host: string | null
  readonly origin: string | null
}

/** Why a request is not taken. */
export interface HttpRefusal {
  readonly status: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

export const localHosts = ['localhost', '127.0.0.1', '[::1]'] as const

/**
 * Refuses requests of web pages elsewhere (a name of theirs in `Host` or `Origin`, though the address is this machine's), and
 * those without the token.
 */
export class HttpGuard {
  readonly #hosts: ReadonlySet<string>
  readonly #token: Buffer | undefined

  /** @param token `false`: none is needed */
  constructor(hosts: readonly string[], token: string | false) {
    this.#hosts = new Set(hosts.map((host) => host.toLowerCase()))
    this.#token = token === false ? undefined : digest(token)
  }

  refusal({ authorization, host, origin }: AskedBy): HttpRefusal | undefined {
    if (host === null || !this.#isKnown(`http://${host}`))
      return { status: 403, message: `Host not allowed: ${host ?? 'none given'}` }
    if (origin !== null && !this.#isKnown(origin)) return { status: 403, message: `Origin not allowed: ${origin}` }
    if (this.#token === undefined) return undefined
    const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
    if (given !== undefined && timingSafeEqual(digest(given), this.#token)) return undefined
    const challenge = given === undefined ? 'Bearer' : 'Bearer error="invalid_token"'
    const message = given === undefined ? 'A bearer token is needed' : 'The bearer token is not the right one'
    return { status: 401, message, headers: { 'WWW-Authenticate': challenge } }
  }

  #isKnown(url: string): boolean {
    const parsed = URL.parse(url)
    return parsed !== null && this.#hosts.has(parsed.hostname)
  }
}

/** Of equal length for all texts, so that a comparison takes equal time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
