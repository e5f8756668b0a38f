import { fieldsOf, objectsIn } from './wire-values.ts'

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** One number with its unit, as in `6m0s`, `58.9s`, `500ms` or `26 seconds`. */
const part =
  /(\d+(?:\.\d+)?)\s*(milliseconds?|millis|msecs?|ms|minutes?|mins?|m|seconds?|secs?|s|hours?|hrs?|h|days?|d)(?![a-z])\s*(?:and\s+|,\s*)?/y
const asked = /\b(?:try (?:\w+ ){0,3}again|retry|wait|reset)[a-z]*[^.\d]{0,40}(?=\d)/gi

/** Fields in seconds, unless their name or a unit says otherwise. */
const fields = [
  'retryDelay',
  'retry_delay',
  'retry_after',
  'retryAfter',
  'retry_after_seconds',
  'retryAfterSeconds',
  'retry_after_ms',
  'retryAfterMs',
] as const

/** How long a provider asks for a pause, in milliseconds: in a field of its error, or in its words. */
export function retryHintIn(error: Readonly<Record<string, unknown>>, message: string): number | undefined {
  const { metadata, details } = error
  for (const place of [error, fieldsOf(metadata), fieldsOf(details), ...objectsIn(details).map(fieldsOf)]) {
    for (const name of fields) {
      const ms = ofField(place[name], /ms$/i.test(name))
      if (ms !== undefined) return ms
    }
  }
  return ofText(message)
}

function ofField(value: unknown, isMs: boolean): number | undefined {
  if (typeof value === 'number') return bounded(isMs ? value : value * 1_000)
  if (typeof value === 'string') return /^\d+(\.\d+)?$/.test(value) ? ofField(Number(value), isMs) : durationAt(value)
  // As `google.protobuf.Duration` in JSON of older servers.
  const { seconds, nanos = 0 } = fieldsOf(value)
  const isDuration = value !== null && typeof value === 'object' && seconds !== undefined && typeof nanos === 'number'
  return isDuration ? bounded(Number(seconds) * 1_000 + nanos / 1e6) : undefined
}

function ofText(message: string): number | undefined {
  for (const { 0: words, index } of message.matchAll(asked)) {
    const ms = durationAt(message, index + words.length)
    if (ms !== undefined) return ms
  }
  return undefined
}

/** The duration that a text has at a place, such as in a header. */
export function durationAt(text: string, from = 0): number | undefined {
  let ms: number | undefined
  part.lastIndex = from
  for (let found = part.exec(text); found !== null; found = part.exec(text)) {
    const [, count = '', unit = ''] = found
    const name = /^m(s|illi)/.test(unit) ? 'ms' : unit.charAt(0)
    ms = (ms ?? 0) + Number(count) * (unitMs[name] ?? 0)
  }
  return ms === undefined ? undefined : bounded(ms)
}

function bounded(ms: number): number | undefined {
  return ms >= 0 ? Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER) : undefined
}
