import { lookup as lookUp } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Agent, buildConnector, fetch, type Response } from 'undici'
import { Refusal } from '../../tools/files/refusal.ts'

const maxRedirects = 5

/**
 * Fetches a URL and follows its redirects. Judges every address where the connection is made, so that a name cannot lead to
 * one address when it is checked and to another when it is used.
 *
 * @param allowPrivate `host:port` of servers whose address may be private
 * @param use reads the response, which ends with it
 * @throws Refusal for a URL or an address that is not allowed, and for a server that does not answer
 */
export async function fetchPublic<T>(
  url: string,
  allowPrivate: readonly string[],
  signal: AbortSignal,
  use: (response: Response, url: URL) => Promise<T>,
): Promise<T> {
  const dispatcher = new Agent({ connect: judgedConnector(allowPrivate) })
  try {
    let target = judgedUrl(url)
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(target, {
        dispatcher,
        signal,
        redirect: 'manual',
        headers: { 'user-agent': 'entia' },
      })
      const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
      if (location === null) return await use(response, target)
      if (redirects === maxRedirects) throw new Refusal(`more than ${maxRedirects} redirects`)
      target = judgedUrl(location, target)
    }
  } catch (error) {
    throw refusalIn(error) ?? error
  } finally {
    await dispatcher.destroy()
  }
}

/** undici wraps what a connection failed with. */
function refusalIn(error: unknown): Refusal | undefined {
  const cause = error instanceof TypeError ? error.cause : error
  if (cause instanceof Refusal) return cause
  if (!(error instanceof TypeError)) return undefined
  return new Refusal(`cannot connect: ${cause instanceof Error ? cause.message : error.message}`)
}

function judgedUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (url === null) throw new Refusal('url must be an absolute http: or https: URL')
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Refusal(`url must start with http: or https:, got ${url.protocol}`)
  if (url.username !== '' || url.password !== '') throw new Refusal('url must not have a user name or password')
  return url
}

function judgedConnector(allowPrivate: readonly string[]): buildConnector.connector {
  const plain = buildConnector({})
  const judged = buildConnector({ lookup: judgedLookup })
  return (options, callback) => {
    const port = options.port === '' ? (options.protocol === 'https:' ? '443' : '80') : options.port
    if (allowPrivate.includes(`${options.hostname}:${port}`)) return plain(options, callback)
    const literal = options.hostname.replace(/^\[|\]$/g, '')
    // A connection to a literal address looks nothing up.
    if (ipaddr.isValid(literal) && !isPublic(literal)) return callback(privateRefusal(options.hostname), null)
    judged(options, callback)
  }
}

const judgedLookup: LookupFunction = (host, options, callback) => {
  lookUp(host, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, [])
    if (!addresses.every(({ address }) => isPublic(address))) return callback(privateRefusal(host), [])
    const [first] = addresses
    if (options.all === true || first === undefined) return callback(null, addresses)
    callback(null, first.address, first.family)
  })
}

function privateRefusal(host: string): Refusal {
  return new Refusal(`private address refused: ${host}`)
}

/** Whether an address belongs to the public internet; one that has an IPv4 address inside an IPv6 one does not. */
function isPublic(address: string): boolean {
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  // `::7f00:1`, which means 127.0.0.1, has no range of its own.
  return !(parsed instanceof ipaddr.IPv6) || parsed.parts.slice(0, 6).some((part) => part !== 0)
}
