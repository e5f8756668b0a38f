import { lstat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { cleanName } from '../../tools/files/clean-text.ts'
import { openInside, type Place } from '../../tools/files/confined-folder.ts'
import { isCredentialFile } from '../../rules/policy/credential-paths.ts'
import type { ClosedPlaces } from '../../rules/policy/closed-places.ts'
import { LeftOut } from '../../tools/files/left-out.ts'
import { globTest } from '../../tools/files/glob.ts'
import type { GrepRequest } from '../../tools/files/grep-lines.ts'
import { Refusal } from '../../tools/files/refusal.ts'
import type { ToolContext } from '../../tools/port.ts'
import { FoundLines } from './found-lines.ts'
import { NotStarted, runProcess } from './process-tree.ts'
import type { ToolSettings } from './settings.ts'
import type { WholeDisk } from './whole-disk.ts'

/** How long a search may take, in milliseconds of real time: less than the tool, so that what was found is shown. */
const maxSearchMs = 18_000

/** More files with credentials cannot be excluded by name. */
const maxCredentialFiles = 1_000

/** Thrown where ripgrep cannot do the search. */
export class NoRipgrep extends Error {
  override readonly name = 'NoRipgrep'
}

/** Searches by ripgrep: first it lists the files, so that those with credentials are never opened; then it reads the others. */
export class RipgrepSearch {
  readonly #request: GrepRequest
  readonly #disk: WholeDisk
  readonly #settings: ToolSettings
  readonly #context: ToolContext
  readonly #endMs = performance.now() + maxSearchMs
  readonly #found: FoundLines
  /** Of a file, by its path from where ripgrep runs. */
  #shown: (path: string) => string = (path) => path
  #fits: (path: string) => boolean = () => true
  /** Where ripgrep runs. */
  #folder = ''
  #closed: ClosedPlaces | undefined
  readonly #leftOut = new LeftOut()
  /** Arguments that keep ripgrep from closed folders. */
  readonly #excluded: string[] = []
  #isCut = false
  #problems = 0

  constructor(request: GrepRequest, disk: WholeDisk, settings: ToolSettings, context: ToolContext) {
    this.#request = request
    this.#disk = disk
    this.#settings = settings
    this.#context = context
    this.#found = new FoundLines(request)
  }

  /** @throws Refusal; `NoRipgrep` */
  async text(): Promise<string> {
    const start = await this.#disk.find(this.#request.path)
    const isFolder = start.stats.isDirectory()
    if (!isFolder && !start.stats.isFile()) throw Refusal.of(this.#request.path, 'is no regular file.')
    const folder = isFolder ? start.realPath : dirname(start.realPath)
    const prefix = isFolder ? start.path : dirname(`/${start.path}`).slice(1)
    if (isFolder && this.#request.glob !== undefined) this.#fits = globTest(this.#request.glob)
    const base = this.#disk.shown(start.root, prefix)
    this.#shown = (path) => (base === '' || base.endsWith('/') ? base + path : `${base}/${path}`)
    const target = isFolder ? '.' : `./${start.realPath.slice(folder.length).replace(/^[/\\]/, '')}`
    this.#folder = folder
    if (isFolder) await this.#close(await this.#disk.closedBelow(folder, this.#context.policy))
    const credentials = isFolder ? await this.#credentialFiles(folder, start) : this.#credentialsAmong([target])
    if (credentials.length > maxCredentialFiles) throw new NoRipgrep('There are too many files with credentials.')
    if (!isFolder && credentials.length === 0 && (await isBinary(start)))
      throw Refusal.of(this.#request.path, 'is a binary file.')
    if (isFolder || credentials.length === 0) await this.#search(folder, target, start, credentials)
    this.#leftOut.add('credential', credentials.length)
    return this.#found.text(() => this.#notes())
  }

  /** What is closed is not entered; where a `*` stands for many places, files are found among all, like those with credentials. */
  async #close(closed: ClosedPlaces): Promise<void> {
    this.#closed = closed
    for (const { kind, path } of closed.places) {
      if (path.includes('*') || (await lstat(path).catch(() => undefined)) === undefined) continue
      this.#leftOut.add(kind)
      this.#excluded.push(excluding(relative(this.#folder, path)))
    }
  }

  async #credentialFiles(folder: string, start: Place): Promise<string[]> {
    const credentials: string[] = []
    const paths = new Records('\0', (path) => credentials.push(...this.#credentialsAmong([path])))
    await this.#run(folder, ['--files', '--null', ...this.#which(start), '--', '.'], paths)
    return credentials
  }

  #credentialsAmong(paths: readonly string[]): string[] {
    const bare = paths.map((path) => path.replace(/^\.\//, ''))
    return bare.filter((path) => this.#isCredential(path) && this.#fits(path))
  }

  #isCredential(path: string): boolean {
    return isCredentialFile(this.#shown(path)) || this.#closed?.kindOf(join(this.#folder, path)) === 'credential'
  }

  async #search(folder: string, target: string, start: Place, credentials: readonly string[]): Promise<void> {
    const { pattern, literal, ignoreCase, context } = this.#request
    const args = [
      '--json',
      ...(literal ? ['--fixed-strings'] : ['--engine=auto']),
      ...(ignoreCase ? ['--ignore-case'] : []),
      `--context=${context}`,
      ...this.#which(start),
      ...credentials.map(excluding),
      `--regexp=${pattern}`,
    ]
    const events = new Records('\n', (line) => this.#event(line))
    await this.#run(folder, [...args, '--', target], events)
    this.#found.longLines = events.leftOut
  }

  /** Which files count. An ignore file above the repository, or above the folder where there is none, does not. */
  #which({ root, realPath }: Place): string[] {
    const { glob } = this.#request
    // A glob that only names an ending saves ripgrep the other files; `#fits` decides.
    const ending = glob !== undefined && /^\*\.\w+$/.test(glob) ? [`--type-add=wanted:${glob}`, '--type=wanted'] : []
    return [
      '--no-config',
      '--path-separator=/',
      '--hidden',
      '--glob=!.git',
      '--no-require-git',
      '--no-ignore-dot',
      '--no-ignore-global',
      '--no-ignore-exclude',
      ...this.#excluded,
      ...(root === realPath ? ['--no-ignore-parent'] : []),
      ...ending,
    ]
  }

  #event(line: string): void {
    const { type, data } = JSON.parse(line) as RipgrepEvent
    if (type === 'summary') return
    const path = decoded(data.path).replace(/^\.\//, '')
    if (type === 'begin') {
      // It may have been made after the files were listed.
      const isClosed = this.#isCredential(path) || this.#closed?.kindOf(join(this.#folder, path)) !== undefined
      const isWanted = this.#fits(path) && !isClosed
      this.#found.begin(isWanted ? cleanName(this.#shown(path)) : undefined)
    } else if (type === 'end') this.#found.end(data.binary_offset !== null)
    else this.#found.line(data.line_number ?? 0, decoded(data.lines).replace(/\r?\n$/, ''), type === 'match')
  }

  async #run(cwd: string, args: readonly string[], records: Records): Promise<void> {
    const problems: Uint8Array[] = []
    const end = await runProcess({
      file: await ripgrep(),
      args,
      cwd,
      env: this.#settings.environment(),
      timeoutMs: Math.max(1, this.#endMs - performance.now()),
      signal: this.#context.signal,
      output: (bytes, stream) => {
        if (stream === 'stdout') records.push(bytes)
        else if (problems.length < 1_000) problems.push(bytes)
        return !this.#found.isFull
      },
    }).catch((error: unknown) => {
      throw error instanceof NotStarted ? new NoRipgrep(error.message) : error
    })
    this.#isCut ||= end.timedOut
    const text = Buffer.concat(problems).toString()
    if (/regex parse error|could not be compiled|PCRE2: error compiling/.test(text)) {
      const [, problem = 'unknown error'] = /error compiling [^:]*: (.*)/.exec(text) ?? /^error: (.*)/m.exec(text) ?? []
      throw new Refusal(`The pattern is no regular expression (${problem}). literal=true takes it as text.`)
    }
    this.#problems += text.split('\n').filter((line) => line.startsWith('rg: ')).length
  }

  #notes(): string[] {
    const all: string[] = []
    const { shown, total, longLines, isFull } = this.#found
    if (total === 0) all.push('no matches')
    if (isFull) all.push(`${shown} of more than ${total} shown; narrow pattern, path or glob`)
    else if (shown < total) all.push(`${shown} of ${total} shown`)
    if (this.#isCut) all.push(`stopped after ${maxSearchMs / 1_000} s; narrow path or glob`)
    if (longLines > 0) all.push(`${longLines} lines with matches left out: they are longer than 1 MB`)
    if (this.#problems > 0) all.push(`${this.#problems} files or folders could not be read`)
    return [...all, ...this.#leftOut.notes()]
  }
}

/** Leaves out a file or folder, by its path from where ripgrep runs. */
function excluding(path: string): string {
  return `--glob=!/${path.replaceAll(sep, '/').replace(/[\\*?[\]{}!]/g, String.raw`\$&`)}`
}

/** Ripgrep leaves binary files of a folder, and reads one that is named to its end, however large. */
async function isBinary({ root, realPath }: Place): Promise<boolean> {
  const { handle } = await openInside(root, realPath)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(8_192))
    const begin = buffer.subarray(0, bytesRead)
    const isUtf16 = (begin[0] === 0xff && begin[1] === 0xfe) || (begin[0] === 0xfe && begin[1] === 0xff)
    return !isUtf16 && begin.includes(0)
  } finally {
    await handle.close()
  }
}

/** A line that ripgrep prints with `--json`. */
type RipgrepEvent =
  | { readonly type: 'begin'; readonly data: { readonly path: RipgrepText } }
  | { readonly type: 'end'; readonly data: { readonly path: RipgrepText; readonly binary_offset: number | null } }
  | {
      readonly type: 'match' | 'context'
      readonly data: { readonly path: RipgrepText; readonly lines: RipgrepText; readonly line_number: number | null }
    }
  | { readonly type: 'summary'; readonly data: unknown }

type RipgrepText = { readonly text: string } | { readonly bytes: string }

function decoded(text: RipgrepText): string {
  return 'text' in text ? text.text : Buffer.from(text.bytes, 'base64').toString()
}

const maxRecordBytes = 1_000_000

/** Cuts what a program prints into records, and leaves out those that are too long. */
class Records {
  readonly #end: number
  readonly #take: (record: string) => void
  #parts: Buffer[] = []
  #sizeBytes = 0
  leftOut = 0

  constructor(end: '\0' | '\n', take: (record: string) => void) {
    this.#end = end.charCodeAt(0)
    this.#take = take
  }

  push(bytes: Buffer): void {
    let from = 0
    for (let at = bytes.indexOf(this.#end); at !== -1; at = bytes.indexOf(this.#end, from)) {
      this.#keep(bytes.subarray(from, at))
      from = at + 1
      if (this.#sizeBytes > maxRecordBytes) this.leftOut++
      else this.#take((this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts)).toString())
      this.#parts = []
      this.#sizeBytes = 0
    }
    this.#keep(bytes.subarray(from))
  }

  #keep(part: Buffer): void {
    this.#sizeBytes += part.length
    if (this.#sizeBytes <= maxRecordBytes) this.#parts.push(part)
    else this.#parts = []
  }
}

let program: string | undefined

/** The program of the package, if that is installed for this system, else the one on the PATH. */
async function ripgrep(): Promise<string> {
  program ??= (await packagedRipgrep()) ?? 'rg'
  return program
}

/** The program of the package, absolute; `undefined`: it is not installed for this system. */
async function packagedRipgrep(): Promise<string | undefined> {
  return import('@vscode/ripgrep').then(
    ({ rgPath }) => rgPath,
    () => undefined,
  )
}
