import { bodyOf, pathArguments, policyDefaults } from './call.ts'
import type { DataClass, PolicyConfig, Reach } from '../../protocol/policy.ts'
import type { PolicyCall } from './call.ts'
import {
  credentialFolders,
  credentialSearch,
  isAboveCredentials,
  isCredentialName,
  isCredentialPath,
  isCredentialWord,
} from './credential-paths.ts'
import { isPattern } from './glob.ts'
import { namedPaths, programsOf } from './named-paths.ts'
import { absolute, goesOnAs, isAbove, isAnchored, liesIn, segmentsOf } from './paths.ts'
import { type ReachBase, reachOf } from './reach.ts'
import { goesThroughFolder } from './recursion.ts'

type Segments = readonly string[]

/** A path, or a word of a shell body, as given and as all that it can lead to. */
export interface TouchedPath {
  readonly given: string
  readonly leadsTo: readonly Segments[]
  /** It is a shell word that means all below a folder, not the folder alone. */
  readonly meansAllBelow?: boolean
  /** It is a shell word whose command writes, moves or removes what it names. */
  readonly isWritten?: boolean | undefined
  /** It stands in a text that may be a program: what such a text says by chance does not count. */
  readonly isGuess?: boolean | undefined
}

/** A folder of a list: as the config has it, as written and as it really lies. */
interface Folder {
  readonly entry: string
  readonly lies: readonly Segments[]
}

/** What a call touches, compared with the lists of the policy and of a config. */
export class PlacesOfCall {
  readonly given: readonly string[]
  readonly #call: PolicyCall
  readonly #config: PolicyConfig
  readonly #arguments: readonly TouchedPath[]
  readonly #words: readonly TouchedPath[]
  /** What strings in a program of another language than the shell's can name. */
  readonly #named: readonly TouchedPath[]
  readonly #programs: readonly string[]
  readonly #cwd: readonly Segments[]
  readonly #isThroughFolder: boolean

  constructor(call: PolicyCall, config: PolicyConfig = {}) {
    this.#call = call
    this.#config = config
    this.given = pathArguments(call)
    const reads = call.facts?.reads ?? []
    this.#arguments = [...this.given, ...reads].map((given) => ({
      given,
      leadsTo: this.#leadsTo(absolute(given, call)),
    }))
    const words = call.facts?.shell?.words ?? []
    this.#words = words.map(({ text, paths, ...more }) => ({
      given: text,
      leadsTo: paths.flatMap((path) => this.#leadsTo(path)),
      ...more,
    }))
    this.#cwd = this.#leadsTo(call.cwd)
    const body = bodyOf(call)
    this.#programs = programsOf(call, call.facts?.shell)
    const named = this.#programs.flatMap((program) => namedPaths(program, call))
    this.#named = named.map((given) => ({ given, leadsTo: this.#leadsTo(given) }))
    this.#isThroughFolder = body?.language === 'bash' && goesThroughFolder(body.text)
  }

  /** The first credential path that the call touches or names. */
  credential(): TouchedPath | undefined {
    const { home, pathStyle } = this.#call
    const folders = credentialFolders(home, this.#call).flatMap((folder) => this.#leadsTo(folder))
    const isOne = (path: Segments): boolean => isCredentialPath(path, folders)
    const touched =
      this.#arguments.find(({ leadsTo }) => leadsTo.some((path) => isOne(path) || isCredentialName(path.join('/')))) ??
      this.#goneThrough().find(({ leadsTo }) => leadsTo.some((path) => isAboveCredentials(path, folders))) ??
      this.#words.find(
        ({ isGuess = false, leadsTo, meansAllBelow = false }) =>
          leadsTo.some((path) => isOne(path) || (!isGuess && isCredentialWord(this.#fromCwd(path)))) ||
          (meansAllBelow && leadsTo.some((path) => isAboveCredentials(path, folders))),
      )
    if (touched !== undefined) return touched
    const search = credentialSearch(home, this.#call, pathStyle)
    for (const text of this.#texts()) {
      const name = search(text)
      if (name !== undefined) return { given: name, leadsTo: [] }
    }
    return this.#named.find(({ leadsTo }) => leadsTo.some(isOne))
  }

  /** Classes of all paths, credentials aside; in a shell body only personal data counts. */
  classes(): DataClass[] {
    const ofArguments = this.#arguments.map(({ leadsTo }) => this.#classOf(leadsTo))
    const personal = this.#personal()
    const isPersonal = personal.some((folder) => this.#touches(folder, [...this.#words, ...this.#named]))
    return isPersonal ? [...ofArguments, 'personal'] : ofArguments
  }

  /**
   * Where the paths of the call lie, and the files that a shell body writes; `undefined`: among them is one that takes effect by
   * itself, so no answer about it is remembered. What is temporary counts for nothing in a body, and what a body reads neither.
   */
  reach(): readonly Reach[] | undefined {
    const ofArguments = this.#arguments.flatMap(({ leadsTo }) => this.#reachesOf(leadsTo))
    const written = this.#words.filter(({ isWritten }) => isWritten === true)
    const ofWords = written.flatMap(({ leadsTo }) => this.#reachesOf(leadsTo.filter(isFile)))
    const beyond = ofWords.filter((reach) => reach === 'other' || reach === 'settings')
    const found = new Set([...ofArguments, ...beyond])
    if (found.has('settings') && this.#call.declared?.operation !== 'read') return undefined
    return [...found].map((reach) => (reach === 'settings' ? 'other' : reach))
  }

  /** Does a shell body, or a program, read what is neither code nor private? What it only writes it does not read. */
  readsOther(): boolean {
    const isOther = (path: Segments): boolean => this.#isPath(path) && this.#classOf([path]) === 'other'
    if (this.#words.some(({ isGuess, isWritten, leadsTo }) => !isGuess && !isWritten && leadsTo.some(isOther)))
      return true
    const isText = bodyOf(this.#call)?.language === 'text'
    const programs = isText ? this.#texts() : this.#programs.map(withoutQuotes)
    const named = programs.flatMap((text) => text.match(pathInText) ?? [])
    return named.some((path) => isOther(segmentsOf(absolute(path, this.#call), this.#call.pathStyle)))
  }

  /** Where all lies that the words of a shell body may name. */
  reachOfWords(): readonly Reach[] {
    const words = this.#words.filter(({ isGuess }) => isGuess !== true)
    const found = words.flatMap(({ leadsTo }) => this.#reachesOf(leadsTo.filter((path) => this.#isPath(path))))
    return [...new Set(found.map((reach) => (reach === 'settings' ? 'other' : reach)))]
  }

  #reachesOf(leadsTo: readonly Segments[]): readonly (Reach | 'settings')[] {
    const all = leadsTo.map((path) => reachOf(path, this.#reachBase()))
    // A link in the project is not in it where it leads out.
    const beyond = all.filter((reach) => reach !== 'project')
    return beyond.length === 0 ? all : beyond
  }

  #reachBase(): ReachBase {
    const code = this.#folders(this.#config.codePaths ?? policyDefaults.codePaths).flatMap(({ lies }) => lies)
    return { home: this.#leadsTo(this.#call.home), cwd: this.#cwd, code }
  }

  /** Where path arguments lead that are links, or lie behind one below the working folder. */
  links(): Readonly<Record<string, string>> {
    const { facts, pathStyle } = this.#call
    const real = facts?.real ?? {}
    const found = this.given.flatMap((given) => {
      const path = absolute(given, this.#call)
      const leads = Object.hasOwn(real, path) ? (real[path] ?? []) : []
      const read = segmentsOf(path, pathStyle).join('/')
      const isBelow = (folder: Segments): boolean => read.startsWith(`${folder.join('/')}/`)
      // The working folder may itself be a link.
      const rests = this.#cwd.filter(isBelow).map((from) => read.slice(from.join('/').length))
      const usual = new Set(rests.flatMap((rest) => this.#cwd.map((to) => `${to.join('/')}${rest}`)))
      const elsewhere = leads.find((lead) => !usual.has(segmentsOf(lead, pathStyle).join('/')))
      return elsewhere === undefined ? [] : [[given, elsewhere] as const]
    })
    return Object.fromEntries(found)
  }

  classOfCwd(): DataClass {
    return this.#classOf(this.#cwd)
  }

  /** The entry of `deniedPaths` that the call touches. */
  denied(): string | undefined {
    const folders = this.#folders(this.#config.deniedPaths ?? [])
    if (folders.length === 0) return undefined
    const runsIn = { given: '.', leadsTo: this.#whereItRuns() }
    const touched = [...this.#arguments, ...this.#words, ...this.#named, runsIn]
    return folders.find((folder) => this.#touches(folder, touched))?.entry
  }

  /** Does one of these paths lie in a folder of a list, or go through a folder above it? */
  #touches({ lies }: Folder, touched: readonly TouchedPath[]): boolean {
    const through = [...this.#words.filter(({ meansAllBelow }) => meansAllBelow === true), ...this.#goneThrough()]
    const isOne = (path: Segments): boolean => lies.some((folder) => liesIn(path, folder) || goesOnAs(path, folder))
    return (
      touched.some(({ leadsTo }) => leadsTo.some(isOne)) ||
      through.some(({ leadsTo }) => leadsTo.some((path) => lies.some((folder) => isAbove(path, folder))))
    )
  }

  /** Folders that a shell line goes through without naming them, those that it may have gone to among them. */
  #goneThrough(): readonly TouchedPath[] {
    return this.#isThroughFolder ? [...this.#words, { given: '.', leadsTo: this.#cwd }] : []
  }

  /**
   * A path outside of `allowedPaths`: an argument's, a word's of a body, or the working folder of a call that runs a
   * program there.
   */
  outsideAllowed(): TouchedPath | undefined {
    const { allowedPaths } = this.#config
    return allowedPaths === undefined ? undefined : this.#outside(this.#folders(allowedPaths))
  }

  /** A path outside of the working folder. */
  outsideCwd(): TouchedPath | undefined {
    return this.#outside([{ entry: this.#call.cwd, lies: this.#cwd }])
  }

  #outside(folders: readonly Folder[]): TouchedPath | undefined {
    const touched = [...this.#arguments]
    if (this.#whereItRuns().length > 0) touched.push({ given: this.#call.cwd, leadsTo: this.#cwd })
    return (
      touched.find(({ leadsTo }) => !leadsTo.every((path) => isIn(path, folders))) ??
      this.#words.find(
        ({ isGuess, leadsTo }) =>
          isGuess !== true && leadsTo.some((path) => this.#isPath(path) && !isSurelyIn(path, folders)),
      )
    )
  }

  /**
   * Can a word be a path? Patterns of sed and the like look like one: what begins with a folder that the disk does not
   * have opens nothing. Devices and the programs of the system do not count.
   */
  #isPath(path: Segments): boolean {
    const [top = ''] = path
    return isFile(path) && !programs.test(path.join('/')) && this.#call.facts?.absent?.includes(top) !== true
  }

  /** The part of a call that cannot be read. */
  opaque(): string | undefined {
    const body = bodyOf(this.#call)
    const { isTooMuch, shell } = this.#call.facts ?? {}
    if (isTooMuch === true) return body?.text ?? `${this.given.length} paths`
    if (body?.language !== 'bash') return undefined
    return shell === undefined ? body.text : shell.opaque
  }

  /** A path as it reads from the working folder, where it lies in it. */
  #fromCwd(path: Segments): string {
    const cwd = this.#cwd.find((folder) => liesIn(path, folder))
    return cwd === undefined ? `/${path.join('/')}` : path.slice(cwd.length).join('/')
  }

  #whereItRuns(): readonly Segments[] {
    return this.#call.declared?.operation === 'exec' || bodyOf(this.#call) !== undefined ? this.#cwd : []
  }

  /** Texts of programs, which are searched for the names of credential paths. */
  #texts(): readonly string[] {
    const body = bodyOf(this.#call)
    if (body === undefined) return []
    const { shell } = this.#call.facts ?? {}
    if (body.language === 'bash' && shell !== undefined) return shell.texts.map(withoutQuotes)
    const bare = withoutQuotes(body.text)
    return this.#call.tool === 'cmd' ? [bare, body.text.replaceAll('\\', '/')] : [bare]
  }

  #classOf(leadsTo: readonly Segments[]): DataClass {
    const personal = this.#personal()
    if (leadsTo.some((path) => isIn(path, personal))) return 'personal'
    const code = this.#folders(this.#config.codePaths ?? policyDefaults.codePaths)
    const isCode = (path: Segments): boolean => isIn(path, code) || this.#cwd.some((cwd) => liesIn(path, cwd))
    return leadsTo.every(isCode) ? 'code' : 'other'
  }

  #personal(): readonly Folder[] {
    return this.#folders(this.#config.personalPaths ?? policyDefaults.personalPaths)
  }

  #folders(entries: readonly string[]): readonly Folder[] {
    return entries.map((entry) => ({ entry, lies: this.#leadsTo(absolute(entry, this.#call)) }))
  }

  /** Where a path leads: as it is written, and as the disk has it. */
  #leadsTo(path: string): Segments[] {
    const { facts, pathStyle } = this.#call
    const real = facts !== undefined && Object.hasOwn(facts.real, path) ? (facts.real[path] ?? []) : []
    return [path, ...real].map((one) => segmentsOf(one, pathStyle))
  }
}

function isIn(path: Segments, folders: readonly Folder[]): boolean {
  return folders.some(({ lies }) => lies.some((folder) => liesIn(path, folder)))
}

/** Whatever a pattern in the path matches. */
function isSurelyIn(path: Segments, folders: readonly Folder[]): boolean {
  return folders.some(({ lies }) =>
    lies.some((folder) => liesIn(path, folder) && !path.slice(0, folder.length).some(isPattern)),
  )
}

/** Is it no device, and does it not begin with a part that is not known? */
function isFile(path: Segments): boolean {
  return isAnchored(path) && !devices.test(path.join('/'))
}

/** Is an absolute path that of a device, which is no file? */
export function isDevice(path: string): boolean {
  return devices.test(segmentsOf(path).join('/'))
}

/** What looks like a path out of the working folder in the text of a program. */
const pathInText =
  /(?<![\w.:/])(?:~\/|(?:\.\.\/)+|\/(?=(?:home|Users|root|etc|mnt|media|opt|srv|tmp|var|private)\/))[\w./ -]*\w/g

const devices = /^dev\/(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd(?:\/.*)?)$/
/** Programs of the system, which bodies name without reading or writing files. */
const programs = /^(?:usr\/(?:local\/)?|opt\/homebrew\/)?s?bin\/[^/]+$/

function withoutQuotes(text: string): string {
  return text.replace(/["'`\\]/g, '')
}
