import { cutText } from '../base/cut-text.ts'

/** Shorter texts are not keys, or may occur anywhere. */
const MIN_KEY_LENGTH = 12

/** Texts are cut to this before the search: failures are shorter. */
const MAX_TEXT_LENGTH = 65_536

/** Headers that never hold a key; all others may. */
const publicHeader = /^(accept|accept-language|anthropic-beta|anthropic-version|content-type|openai-beta|user-agent)$/i

const publicParameter = /version$/i

export function isPublicHeader(name: string): boolean {
  return publicHeader.test(name)
}

export function isPublicParameter(name: string): boolean {
  return publicParameter.test(name)
}

export interface Credentials {
  readonly apiKey?: string | undefined
  readonly baseURL?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * Makes a function that replaces keys in foreign text by `[key]`: raw, URL-encoded or JSON-escaped, and parts of 12 characters
 * or more, since a provider may cut what it quotes.
 */
export function withoutKeys(credentials: Credentials): (text: string) => string {
  const parts = new Set(keysOf(credentials).flatMap(formsOf).flatMap(partsOf))
  if (parts.size === 0) return (text) => text
  return (text) => replaceParts(cutText(text, MAX_TEXT_LENGTH), parts)
}

function replaceParts(text: string, parts: ReadonlySet<string>): string {
  let cleaned = ''
  let copied = 0
  for (let at = 0; at + MIN_KEY_LENGTH <= text.length; at++) {
    if (!parts.has(text.slice(at, at + MIN_KEY_LENGTH))) continue
    let end = at + MIN_KEY_LENGTH
    while (end < text.length && parts.has(text.slice(end + 1 - MIN_KEY_LENGTH, end + 1))) end++
    cleaned += `${text.slice(copied, at)}[key]`
    copied = end
    at = end - 1
  }
  return cleaned + text.slice(copied)
}

function keysOf({ apiKey, baseURL, headers = {} }: Credentials): string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => {
    if (publicHeader.test(name)) return []
    // The key is what follows `Bearer` and the like.
    return [value.replace(/^(bearer|basic|token|key) +/i, '')]
  })
  return [...(apiKey === undefined ? [] : [apiKey]), ...values, ...keysOfAddress(baseURL)]
}

function keysOfAddress(baseURL: string | undefined): string[] {
  if (baseURL === undefined || !URL.canParse(baseURL)) return []
  const { username, password, searchParams } = new URL(baseURL)
  const parameters = [...searchParams].filter(([name]) => !publicParameter.test(name)).map(([, value]) => value)
  return [username, password, ...parameters]
}

function formsOf(key: string): string[] {
  const encoded = encodeURIComponent(key.toWellFormed())
  const lowerEncoded = encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
  const json = escaped(key)
  // Hosts are lower-cased, some servers escape slashes, and SDKs quote JSON within JSON.
  return [key, key.toLowerCase(), encoded, lowerEncoded, json, escaped(json), json.replaceAll('/', String.raw`\/`)]
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function partsOf(form: string): string[] {
  const text = form.trim()
  const count = Math.max(0, text.length - MIN_KEY_LENGTH + 1)
  return Array.from({ length: count }, (_, at) => text.slice(at, at + MIN_KEY_LENGTH))
}
