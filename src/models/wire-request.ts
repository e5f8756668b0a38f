import type { Json } from '../base/json.ts'
import type { WireRequest } from './port.ts'
import { wellFormedJson } from './wire-values.ts'
import { isPublicHeader, isPublicParameter } from './without-keys.ts'

export interface WireParts {
  readonly baseURL: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly keys?: Readonly<Record<string, string>> | undefined
  readonly body: object
}

/** What an adapter sends: no key is in the address, and none in a header. */
export function wireRequest({ baseURL, body, headers = {}, keys = {}, path }: WireParts): WireRequest {
  const shown: Record<string, string> = { 'content-type': 'application/json' }
  const hidden: Record<string, string> = { ...keys }
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (isPublicHeader(lower)) shown[lower] = value
    else hidden[lower] = `$${lower.toUpperCase().replaceAll(/\W/g, '_')}`
  }
  return {
    url: addressOf(baseURL, path),
    headers: shown,
    keys: hidden,
    body: JSON.parse(wellFormedJson(JSON.stringify(body))) as Json,
  }
}

function addressOf(baseURL: string, path: string): string {
  const url = new URL(baseURL)
  url.username = ''
  url.password = ''
  for (const name of Array.from(url.searchParams.keys())) if (!isPublicParameter(name)) url.searchParams.delete(name)
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`
  return url.href
}
