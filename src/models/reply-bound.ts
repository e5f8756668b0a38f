import type { Failure } from '../protocol/failure.ts'
import type { ModelDelta } from './port.ts'
import { causesOf } from './wire-values.ts'

/** What holds for every provider where its options say nothing. */
export const providerDefaults = {
  /** 16 MiB, a hundred times what models write. */
  maxReplyBytes: 16 * 2 ** 20,
} as const

/** The longest reply that is read, and how long it may take. */
export interface ReplyBound {
  /**
   * Largest reply, in bytes of text, thinking and tool calls. A longer one fails as `truncated` without a retry. Errors, lists
   * of models and single events have the same bound, or the default if that is higher; a stream may be 4 times as large.
   *
   * @default 16 MiB (`providerDefaults.maxReplyBytes`)
   */
  readonly maxReplyBytes?: number | undefined
}

/** Ends a call that sends too much. */
export class ReplyTooLong extends Error {
  readonly maxBytes: number

  constructor(maxBytes: number) {
    super(`More than ${maxBytes} bytes came.`)
    this.maxBytes = maxBytes
  }
}

/** Finds the error within what an SDK throws. */
export function tooLongIn(error: unknown): ReplyTooLong | undefined {
  return causesOf(error).find((cause) => cause instanceof ReplyTooLong)
}

/** Final: a retry would be as long. */
export function tooLong(provider: string, maxBytes: number): Failure {
  const message = `${provider} sent more than ${maxBytes} bytes, the bound of a reply (maxReplyBytes), and the call was ended.`
  return { kind: 'truncated', message, isFinal: true }
}

export function sizeOfDelta(delta: ModelDelta): number {
  return Buffer.byteLength(delta.type === 'tool-call' ? delta.id + delta.name : delta.text)
}

/** Bytes of all texts in a value, plus some per object. Iterative: it may nest as deep as JSON can. */
export function sizeOfTexts(value: unknown): number {
  let sizeBytes = 0
  const open = [value]
  while (open.length > 0) {
    const part = open.pop()
    if (typeof part === 'string') sizeBytes += Buffer.byteLength(part)
    else if (typeof part === 'object' && part !== null) {
      sizeBytes += HELD_BYTES
      for (const inner of Object.values(part)) open.push(inner)
    }
  }
  return sizeBytes
}

/** Minimum memory of an object. */
const HELD_BYTES = 64
