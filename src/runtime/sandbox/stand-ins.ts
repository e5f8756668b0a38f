import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join, parse, sep } from 'node:path'
import { processLine } from '../tools/process-marks.ts'

/** A path that no program in the sandbox writes or makes. */
export interface GuardedPath {
  /** Absolute. */
  readonly path: string
  /** What a file in its place holds, so that it means the same as no file. @default an empty folder stands in */
  readonly standIn?: string
}

const isLinux = process.platform === 'linux'

/** Tries to get the lock, a millisecond apart. A holder takes less. */
const maxTries = 2_000

/**
 * Empty folders and harmless files, which git and editors do not see, where a guarded path is not there: nothing can be mounted over
 * what is not there. All sandboxes of a user share them. Each process notes in a file which ones its programs need, and the last one
 * removes them. What a killed process has left is removed with the next ones.
 */
export class StandIns {
  readonly #folder: string
  readonly #note: string
  readonly #needed = new Set<string>()
  /** There are notes: the folder for them is the user's alone. */
  #isShared = false

  /** @param folder for the notes, absolute: no program in a sandbox may write there */
  constructor(folder: string) {
    this.#folder = folder
    this.#note = `${process.pid}-${processLine(process.pid)?.startedTicks ?? 0}.json`
  }

  /** Is a path there, and none of these? */
  isThere(path: string): boolean {
    return isThere(path) && !this.#needed.has(path)
  }

  /** What is to be mounted over, so that no program in a sandbox can write or make these paths. */
  guard(paths: readonly GuardedPath[]): readonly string[] {
    if (!isLinux) return paths.map(({ path }) => path)
    return this.#alone(() => {
      const others = this.#neededByOthers()
      const places = paths.map((guarded) => placeOf(guarded, (path) => this.#needed.has(path) || others.has(path)))
      for (const { isStandIn, path } of places) if (isStandIn) this.#needed.add(path)
      this.#writeNote()
      return places.map((place) => (place.isStandIn ? this.#made(place) : place.path))
    })
  }

  /** Removes those that no other process needs. What others have put into one keeps it. */
  remove(): void {
    if (this.#needed.size === 0) return
    this.#alone(() => {
      const others = this.#neededByOthers()
      for (const place of this.#needed) if (!others.has(place)) removeStandIn(place)
      this.#needed.clear()
      this.#writeNote()
    })
  }

  #made({ content, path }: Place): string {
    try {
      if (content === undefined) mkdirSync(path, { mode: 0o700 })
      else writeFileSync(path, content, { flag: 'wx' })
    } catch {
      if (isThere(path)) return path
      this.#needed.delete(path)
      // Where the user cannot make it now, no program makes it later.
      return parse(path).dir
    }
    return path
  }

  /** What running processes need. Removes what others have left behind. */
  #neededByOthers(): ReadonlySet<string> {
    const notes = this.#notes().filter((note) => note !== this.#note)
    const [left, running] = [notes.filter((note) => !isRunning(note)), notes.filter(isRunning)]
    const needed = new Set(running.flatMap((note) => this.#read(note)))
    for (const note of left) {
      for (const place of this.#read(note)) {
        if (!needed.has(place) && !this.#needed.has(place)) removeStandIn(place)
      }
      rmSync(join(this.#folder, note), { force: true })
    }
    return needed
  }

  #notes(): readonly string[] {
    return this.#isShared ? readdirSync(this.#folder).filter((name) => name.endsWith('.json')) : []
  }

  #read(note: string): readonly string[] {
    try {
      const places: unknown = JSON.parse(readFileSync(join(this.#folder, note), 'utf8'))
      return Array.isArray(places) ? places.filter((place) => typeof place === 'string') : []
    } catch {
      return []
    }
  }

  #writeNote(): void {
    if (!this.#isShared) return
    const file = join(this.#folder, this.#note)
    if (this.#needed.size === 0) rmSync(file, { force: true })
    else writeFileSync(file, JSON.stringify([...this.#needed]), { mode: 0o600 })
  }

  /** Does something while no other process looks at notes, makes or removes. */
  #alone<T>(work: () => T): T {
    const lock = join(this.#folder, 'lock')
    this.#isShared = isOwnFolder(this.#folder)
    // Then other processes may remove them too early.
    if (!this.#isShared) return work()
    for (let tries = 0; !isTaken(lock, this.#note) && tries < maxTries; tries++) pause()
    try {
      return work()
    } finally {
      rmSync(lock, { force: true })
    }
  }
}

interface Place {
  readonly path: string
  readonly isStandIn: boolean
  readonly content: string | undefined
}

/** Where a path is guarded: at itself, or at the first of its names that is not there. */
function placeOf({ path, standIn }: GuardedPath, isKnown: (path: string) => boolean): Place {
  const { root } = parse(path)
  let place = root
  for (const name of path.slice(root.length).split(sep)) {
    place = join(place, name)
    if (isThere(place) && !isKnown(place)) continue
    return { path: place, isStandIn: true, content: place === path ? standIn : undefined }
  }
  return { path, isStandIn: false, content: undefined }
}

function removeStandIn(path: string): void {
  try {
    if (lstatSync(path).isDirectory()) rmdirSync(path)
    else if (readFileSync(path, 'utf8').trim().length <= 1) unlinkSync(path)
  } catch {
    // It is in use, or gone.
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

/** Is a folder there, or can it be made, which no other user writes in? */
function isOwnFolder(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const stats = lstatSync(path)
    return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0
  } catch {
    return false
  }
}

/** Takes a lock that is free, and frees that of a process that was killed. */
function isTaken(lock: string, note: string): boolean {
  try {
    writeFileSync(lock, note, { flag: 'wx' })
    return true
  } catch {
    try {
      const holder = readFileSync(lock, 'utf8')
      if (holder !== '' && !isRunning(holder)) rmSync(lock, { force: true })
    } catch {
      // It is free by now.
    }
    return false
  }
}

/** Does the process of a note run? Its number may be another's by now. */
function isRunning(note: string): boolean {
  const [pid, startedTicks] = note.replace('.json', '').split('-').map(Number)
  return processLine(pid ?? 0)?.startedTicks === startedTicks
}

const clock = new Int32Array(new SharedArrayBuffer(4))

function pause(): void {
  Atomics.wait(clock, 0, 0, 1)
}
