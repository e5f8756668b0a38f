import { TextDecoder } from 'node:util'

const maxBytes = 5_000_000

/** A body as text, in the encoding that its type names, or UTF-8. A longer one than 5 MB ends with a note. */
export async function responseText(response: {
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
}): Promise<string> {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes) break
  }
  const bytes = Buffer.concat(chunks).subarray(0, maxBytes)
  const text = decoderOf(response.headers.get('content-type') ?? '').decode(bytes)
  return sizeBytes > maxBytes ? `${text}\n[stopped after ${maxBytes / 1e6} MB]` : text
}

function decoderOf(type: string): TextDecoder {
  const [, label = 'utf-8'] = /charset="?([\w-]+)/i.exec(type) ?? []
  try {
    return new TextDecoder(label)
  } catch {
    return new TextDecoder()
  }
}
