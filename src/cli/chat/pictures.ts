import { readFileSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { UserMessage } from '../../index.ts'
import { inHome } from '../../runtime/config/folders.ts'
import { cutText } from '../../base/cut-text.ts'
import { visibleText } from '../../tools/files/clean-text.ts'

type FileBlock = Extract<UserMessage['content'][number], { readonly type: 'file' }>

/** Largest picture: providers take 5 MB of base64. */
export const maxPictureBytes = 3_750_000
const maxPictures = 20
const extensions = /\.(?:png|jpe?g|gif|webp)$/i
const dataUrls = /data:image\/[\w.+-]+;base64,([A-Za-z0-9+/]+={0,2})/g
const notes = /\[image \d+: [^\]\n]*\]/g
const maxNameChars = 40

/** The pictures of a message that is being typed. In the line each is a note, such as `[image 1: shot.png, 120 KB]`. */
export class Pictures {
  readonly #cwd: string
  readonly #tell: (text: string) => void
  readonly #byNote = new Map<string, FileBlock>()

  /** @param tell says why something is not taken */
  constructor(cwd: string, tell: (text: string) => void) {
    this.#cwd = cwd
    this.#tell = tell
  }

  /**
   * What a pasted text stands for in the line: notes where it is pictures as `data:` URLs, or paths of pictures, as terminals
   * paste files that are dropped on them. `undefined`: it is a text.
   */
  pasted(text: string): string | undefined {
    if (text.includes('data:image/')) {
      let count = 0
      const left = text.replaceAll(dataUrls, (_, data: string) => {
        count++
        return this.add(Buffer.from(data, 'base64'), 'pasted')
      })
      return count > 0 ? left : undefined
    }
    const paths = droppedPaths(text, this.#cwd)
    if (paths === undefined) return undefined
    return paths
      .map((path) => this.#addFile(path))
      .filter((note) => note !== '')
      .join(' ')
  }

  /** Takes a picture; gives the note that stands for it, or says why not and gives an empty text. */
  add(bytes: Buffer, name: string): string {
    const shown = nameOf(name)
    const mediaType = mediaTypeOf(bytes)
    if (mediaType === undefined) return this.#refuse(`${shown} is no PNG, JPEG, GIF or WebP picture, and is not added.`)
    if (bytes.length > maxPictureBytes) return this.#refuse(tooLarge(shown, bytes.length))
    const note = `[image ${this.#byNote.size + 1}: ${shown}, ${sizeText(bytes.length)}]`
    this.#byNote.set(note, { type: 'file', mediaType, data: bytes.toString('base64'), name: shown })
    return note
  }

  /** The pictures whose notes a text has, each once. */
  of(text: string): readonly FileBlock[] {
    const found = [...new Set(text.match(notes) ?? [])].flatMap((note) => this.#byNote.get(note) ?? [])
    if (found.length > maxPictures) this.#tell(`A message takes ${maxPictures} pictures; the others are not added.`)
    return found.slice(0, maxPictures)
  }

  /** Knows the pictures of a message again that goes back into the line. */
  restore({ content }: UserMessage, text: string): void {
    const files = content.filter((block) => block.type === 'file')
    for (const note of text.match(notes) ?? []) {
      const index = files.findIndex(({ name }) => name !== undefined && note.includes(`: ${name}, `))
      const [file] = index === -1 ? [] : files.splice(index, 1)
      if (file !== undefined) this.#byNote.set(note, file)
    }
  }

  #addFile(path: string): string {
    try {
      const { size } = statSync(path)
      if (size > maxPictureBytes) return this.#refuse(tooLarge(nameOf(basename(path)), size))
      return this.add(readFileSync(path), basename(path))
    } catch (error) {
      return this.#refuse(`${visibleText(path)} cannot be read, and is not added: ${(error as Error).message}`)
    }
  }

  #refuse(why: string): string {
    this.#tell(why)
    return ''
  }
}

/** The type by its first bytes, of the pictures that providers take. */
export function mediaTypeOf(bytes: Buffer): string | undefined {
  const begins = (text: string, at = 0): boolean => bytes.toString('latin1', at, at + text.length) === text
  if (begins('\u0089PNG\r\n\u001a\n')) return 'image/png'
  if (begins('\u00ff\u00d8\u00ff')) return 'image/jpeg'
  if (begins('GIF87a') || begins('GIF89a')) return 'image/gif'
  return begins('RIFF') && begins('WEBP', 8) ? 'image/webp' : undefined
}

export function tooLarge(name: string, bytes: number): string {
  return `${name} has ${sizeText(bytes)}; a picture may have ${sizeText(maxPictureBytes)}, and it is not added.`
}

/** Paths of pictures that are there, if the text is nothing else: quoted, with escaped blanks, or as `file:` URLs. */
function droppedPaths(text: string, cwd: string): readonly string[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const paths: string[] = []
  for (const line of lines) {
    const whole = picturePath(line.trim(), cwd)
    const found = whole === undefined ? wordsOf(line).map((word) => picturePath(word, cwd)) : [whole]
    if (found.length === 0 || !found.every((path) => path !== undefined)) return undefined
    paths.push(...found)
  }
  return paths.length === 0 ? undefined : paths
}

const words = /'([^']*)'|"([^"]*)"|((?:\\.|[^\s\\'"])+)|(['"\\])/g

function wordsOf(line: string): string[] {
  // Backslashes part folders there.
  const isWindows = process.platform === 'win32'
  return Array.from(line.matchAll(words), ([, single, double, bare, stray]) => {
    if (stray !== undefined) return stray
    return single ?? double ?? (isWindows ? bare : bare?.replaceAll(/\\(.)/g, '$1')) ?? ''
  })
}

function picturePath(word: string, cwd: string): string | undefined {
  if (!extensions.test(word)) return undefined
  try {
    const path = word.startsWith('file://') ? fileURLToPath(word) : resolve(cwd, inHome(word))
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : undefined
  } catch {
    return undefined
  }
}

function nameOf(name: string): string {
  const plain = visibleText(name).replaceAll(/[[\]\n\t]/g, '_')
  return cutText(plain, maxNameChars, '…')
}

function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`
  return bytes < 1_000_000
    ? `${Math.round(bytes / 1_000)} KB`
    : `${(bytes / 1_000_000).toFixed(2).replace(/0$/, '')} MB`
}
