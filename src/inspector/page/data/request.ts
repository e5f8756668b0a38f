import { signal } from '@preact/signals'
import type { CallEntry, Problem, RequestReply } from '../../reading/wire.ts'
import { connection, problemOf } from './state.ts'

/** A request that was asked for, by `<world>/<tick>/<effect>`. */
export interface AskedRequest {
  readonly key: string
  readonly reply?: RequestReply
  readonly problem?: Problem
}

export const askedRequest = signal<AskedRequest | undefined>(undefined)

/** The newest are kept: a person goes back and forth between them. */
const kept = new Map<string, RequestReply>()
const maxKept = 20
let wanted = ''

/** Asks what a call was sent in its newest try. */
export async function wantRequest(world: string, call: CallEntry): Promise<void> {
  const tick = call.tries.at(-1) ?? call.tick
  const key = `${world}/${tick}/${call.effect}`
  if (wanted === key) return
  wanted = key
  const known = kept.get(key)
  if (known !== undefined) {
    askedRequest.value = { key, reply: known }
    return
  }
  try {
    const reply = await connection.get<RequestReply>('request', { world, tick, effect: call.effect })
    kept.set(key, reply)
    for (const [first] of kept) if (kept.size > maxKept) kept.delete(first)
    if (wanted === key) askedRequest.value = { key, reply }
  } catch (error) {
    if (wanted === key) askedRequest.value = { key, problem: problemOf(error) }
    wanted = ''
  }
}

/** The request as a command of a shell, with the names of environment variables in place of keys. */
export function curlOf({ body, headers, keys, url }: NonNullable<RequestReply['wire']>): string {
  return [
    `curl ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // In double quotes, so that the shell fills in the variable.
    ...Object.entries(keys).map(([name, value]) => `-H "${name}: ${value}"`),
    `--data-raw ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n  ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
