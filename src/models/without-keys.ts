import { cutText } from '../rules/text/cut-text.ts'

/** Shorter values are no keys, and so short a part of a key may stand in any text. */
const MIN_KEY_LENGTH = 12

/** Longer texts are cut before they are searched: no failure keeps as much. */
const MAX_TEXT_LENGTH = 65_536

/** Headers that never hold a key. The value of any other one may be a key. */
const publicHeader = /^(accept|accept-language|anthropic-beta|anthropic-version|content-type|openai-beta|user-agent)$/i

/** Parameters of an address that never hold a key. */
const publicParameter = /version$/i

/** What a provider is called with. */
export interface Credentials {
  readonly apiKey?: string | undefined
  readonly baseURL?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * Makes a function that replaces the keys in use by `[key]` in a text from outside: raw, URL-encoded or escaped as JSON,
 * and parts of them of 12 characters or more, since a provider may cut what it quotes.
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
    // Of `Bearer …` and its like only what follows is the key.
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
  // Host names are in lower case, some servers escape slashes in JSON, and SDKs write as JSON what quotes JSON.
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
