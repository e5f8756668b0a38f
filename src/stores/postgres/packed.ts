import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** Shorter texts gain nothing. */
const leastBytes = 1_000
/** Longer ones would take so long that other worlds wait: Postgres packs them less, by itself. */
const mostBytes = 256_000

/** A text as it is kept. */
export interface Packed {
  readonly body: Buffer
  /** Of the text. As many as the body has: it is not packed. */
  readonly bytes: number
}

export function pack(text: string): Packed {
  const plain = Buffer.from(text)
  const bytes = plain.length
  if (bytes < leastBytes || bytes > mostBytes) return { body: plain, bytes }
  const body = deflateRawSync(plain)
  return { body: body.length < bytes ? body : plain, bytes }
}

/** @throws where it was damaged */
export function unpack({ body, bytes }: Packed): string {
  if (body.length === bytes) return body.toString()
  // A body that would unpack to more was not written by us.
  return inflateRawSync(body, { maxOutputLength: Math.max(1, bytes) }).toString()
}
