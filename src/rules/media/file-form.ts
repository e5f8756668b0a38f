import type { FileBlock } from '../../protocol/message.ts'

/** A file as what it is, whatever its media type says. */
export type FileForm =
  | { readonly kind: 'image' | 'pdf' | 'audio' | 'other'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'text'; readonly mediaType: string; readonly text: string }
  /** Not looked at: its media type counts. */
  | { readonly kind: 'linked'; readonly mediaType: string; readonly url: string }
  /** It has no bytes that anyone can read. */
  | { readonly kind: 'broken'; readonly problem: string }

interface Magic {
  readonly mediaType: string
  readonly kind: 'image' | 'pdf' | 'audio' | 'other'
  /** Bytes in hexadecimal; `.` is any digit. */
  readonly starts: string
}

const magics: readonly Magic[] = [
  { mediaType: 'image/png', kind: 'image', starts: '89504e47' },
  { mediaType: 'image/jpeg', kind: 'image', starts: 'ffd8ff' },
  { mediaType: 'image/gif', kind: 'image', starts: '47494638' },
  { mediaType: 'image/webp', kind: 'image', starts: '52494646........57454250' },
  { mediaType: 'application/pdf', kind: 'pdf', starts: '255044462d' },
  { mediaType: 'image/bmp', kind: 'image', starts: '424d........00000000' },
  { mediaType: 'image/tiff', kind: 'image', starts: '49492a00' },
  { mediaType: 'image/tiff', kind: 'image', starts: '4d4d002a' },
  { mediaType: 'image/avif', kind: 'image', starts: '........6674797061766966' },
  { mediaType: 'image/heic', kind: 'image', starts: '........6674797068656963' },
  { mediaType: 'image/heic', kind: 'image', starts: '........667479706d696631' },
  { mediaType: 'image/x-icon', kind: 'image', starts: '00000100' },
  { mediaType: 'audio/wav', kind: 'audio', starts: '52494646........57415645' },
  { mediaType: 'audio/mpeg', kind: 'audio', starts: '494433' },
  { mediaType: 'audio/mpeg', kind: 'audio', starts: 'fffb' },
  { mediaType: 'audio/ogg', kind: 'audio', starts: '4f676753' },
  { mediaType: 'audio/flac', kind: 'audio', starts: '664c6143' },
  { mediaType: 'video/mp4', kind: 'other', starts: '........66747970' },
  { mediaType: 'video/webm', kind: 'other', starts: '1a45dfa3' },
  { mediaType: 'application/zip', kind: 'other', starts: '504b0304' },
  { mediaType: 'application/gzip', kind: 'other', starts: '1f8b08' },
]

/** Characters of Base64 that are looked at for the type. */
const headChars = 64

/** Other names of media types. */
const usualNames: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'application/x-pdf': 'application/pdf',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
}

/** Containers of many types: what the media type says is more exact. */
const containers: ReadonlySet<string> = new Set(['application/zip', 'video/mp4', 'video/webm', 'audio/ogg'])

/** Reads a file's bytes, which tools and servers label wrongly, wrap and cut. */
export function fileForm({ data, mediaType: label, url }: FileBlock): FileForm {
  const said = (label.split(';', 1)[0] ?? '').trim().toLowerCase()
  const mediaType = usualNames[said] ?? (said === '' ? 'application/octet-stream' : said)
  if (data === undefined) {
    return url === undefined ? { kind: 'broken', problem: 'it is empty' } : { kind: 'linked', mediaType, url }
  }
  const clean = base64Of(data)
  if (clean === undefined) return { kind: 'broken', problem: 'its data is not Base64' }
  if (clean === '') return { kind: 'broken', problem: 'it is empty' }
  const head = Buffer.from(clean.slice(0, headChars), 'base64').toString('hex')
  // Shorter than what all files of its type begin with.
  const begun = magics.find((magic) => magic.mediaType === mediaType && isBegun(magic, head))
  const found = begun ?? magics.find(({ starts }) => beginsWith(head, starts))
  if (found !== undefined) {
    const isLabel = containers.has(found.mediaType) && isOther(mediaType)
    if (isLabel) return { kind: mediaType.startsWith('audio/') ? 'audio' : 'other', mediaType, data: clean }
    return { kind: found.kind, mediaType: found.mediaType, data: clean }
  }
  const text = textOf(clean)
  if (text !== undefined) return { kind: 'text', mediaType: isText(mediaType) ? mediaType : 'text/plain', text }
  if (/^image\/|^application\/pdf$/.test(mediaType)) return { kind: 'broken', problem: `its bytes are no ${mediaType}` }
  return { kind: mediaType.startsWith('audio/') ? 'audio' : 'other', mediaType, data: clean }
}

function isOther(mediaType: string): boolean {
  return (
    !/^(image|text)\//.test(mediaType) && mediaType !== 'application/pdf' && mediaType !== 'application/octet-stream'
  )
}

function isText(mediaType: string): boolean {
  return /^text\/|^application\/(json|xml|yaml|javascript|x-.*)$|\+(json|xml)$/.test(mediaType)
}

function isBegun({ starts }: Magic, head: string): boolean {
  return head.length < starts.length && beginsWith(starts, head)
}

function beginsWith(text: string, start: string): boolean {
  if (text.length < start.length) return false
  for (let index = 0; index < start.length; index++) {
    if (start[index] !== '.' && text[index] !== '.' && start[index] !== text[index]) return false
  }
  return true
}

/** Without a `data:` URL around it, line breaks and the alphabet of URLs; `undefined` if it is none. */
function base64Of(data: string): string | undefined {
  const bare = data
    .replace(/^data:[^,]{0,200};base64,/i, '')
    .replaceAll(/\s+/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '')
  if (!/^[A-Za-z0-9+/]*$/.test(bare) || bare.length % 4 === 1) return undefined
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, '=')
}

/** `undefined`: its bytes are no text. */
function textOf(data: string): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(data, 'base64'))
    // oxlint-disable-next-line no-control-regex
    return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

/** What a model reads in place of a file. */
export function fileNote({ data, mediaType, name }: FileBlock, reason: string): string {
  const size = data === undefined ? '' : `, ${Math.floor((data.length * 3) / 4)} bytes`
  const what = name === undefined ? mediaType : `${name}, ${mediaType}`
  return `[not sent: a file (${what}${size}): ${reason}]`.toWellFormed()
}
