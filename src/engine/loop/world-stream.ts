import type { ModelDelta } from '../../models/port.ts'
import type { Streams, StreamedText, WorldName } from '../../stores/port.ts'
import type { Entity } from '../../world/component.ts'
import type { Clock } from './clock.ts'
import type { RunnerEvents } from './events.ts'
import { joinDelta } from './joined-deltas.ts'
import type { Mail } from './letter-box.ts'
import { type TextHearer, TextsSoFar } from './texts-so-far.ts'

/** All that models stream in the worlds of a store is written together, so often at most. */
const writeEachMs = 100
/** How often it is asked who watches, while models stream. */
const askEachMs = 500

/** A call that streams. */
interface Call {
  readonly attempt: number
  /** The try so far, for those who begin to watch in the midst of it. */
  readonly all: ModelDelta[]
  /** What was not written or dropped yet, and how many pieces of the try came before it, and before what follows. */
  fresh: ModelDelta[]
  first: number
  next: number
  /** Under which watch all before these was written; `undefined`: it was not. */
  writtenFor: number | undefined
  isOver: boolean
}

/** What models stream in a world. @param mail of a world that others may watch from elsewhere */
export function textsOf(mail: Mail | undefined, clock: Clock): TextsSoFar {
  return new TextsSoFar(mail && WorldStream.of(mail, clock))
}

/** Writes what models stream in a world that a worker holds, for those who watch it from elsewhere, if somebody does. */
class WorldStream implements TextHearer {
  readonly name: Required<WorldName>
  /** When it was last asked whether somebody watches, and what the answer was. */
  askedAtMs = -Infinity
  watch: number | undefined
  readonly #epoch: number
  readonly #writer: StreamWriter
  readonly #calls = new Map<Entity, Call>()

  /** `undefined`: nobody can watch worlds of this store. */
  static of({ journal, root, store }: Mail, clock: Clock): WorldStream | undefined {
    if (store.streams === undefined) return undefined
    return new WorldStream({ world: journal.name, root }, journal.epoch, writerOf(store.streams, clock))
  }

  private constructor(name: Required<WorldName>, epoch: number, writer: StreamWriter) {
    this.name = name
    this.#epoch = epoch
    this.#writer = writer
  }

  hear({ attempt, delta, effect, index }: RunnerEvents['model-delta']): void {
    let call = this.#calls.get(effect)
    if (call?.attempt !== attempt) {
      call = { attempt, all: [], fresh: [], first: index, next: index, writtenFor: undefined, isOver: false }
      this.#calls.set(effect, call)
    }
    call.next = index + 1
    joinDelta(call.all, delta)
    joinDelta(call.fresh, delta)
    this.#writer.hasNews(this)
  }

  forget(effect: Entity): void {
    const call = this.#calls.get(effect)
    if (call === undefined) return
    call.isOver = true
    if (call.writtenFor === undefined) this.#calls.delete(effect)
    else this.#writer.hasNews(this)
  }

  /** What is to be written now. */
  *due(): Generator<WorldName & StreamedText> {
    for (const [effect, call] of this.#calls) {
      const text = this.#dueOf(call)
      if (call.isOver) this.#calls.delete(effect)
      if (text === undefined) continue
      yield { ...this.name, epoch: this.#epoch, effect, attempt: call.attempt, ...text }
    }
  }

  /** Calls in flight stream what nobody watched so far. */
  get isUnseen(): boolean {
    return [...this.#calls.values()].some(({ writtenFor }) => writtenFor === undefined)
  }

  /** What was written is perhaps not there: it is written anew. */
  distrust(): void {
    for (const call of this.#calls.values()) call.writtenFor = undefined
  }

  #dueOf(call: Call): Pick<StreamedText, 'first' | 'line' | 'next'> | undefined {
    const { all, first, fresh, next, writtenFor } = call
    if (call.isOver) return writtenFor === undefined ? undefined : { first: 0, next, line: '' }
    call.fresh = []
    call.first = next
    call.writtenFor = this.watch
    if (this.watch === undefined) return undefined
    if (writtenFor !== this.watch) return { first: 0, next, line: JSON.stringify(all) }
    return fresh.length === 0 ? undefined : { first, next, line: JSON.stringify(fresh) }
  }
}

/** One for each store. */
const writers = new WeakMap<Streams, StreamWriter>()

function writerOf(streams: Streams, clock: Clock): StreamWriter {
  let writer = writers.get(streams)
  if (writer === undefined) writers.set(streams, (writer = new StreamWriter(streams, clock)))
  return writer
}

/** Writes for all worlds of a store at once. A model never waits for it: what streams meanwhile goes with the next writing. */
class StreamWriter {
  readonly #streams: Streams
  readonly #clock: Clock
  /** With something new to write, and with calls in flight that nobody watches. */
  #news = new Set<WorldStream>()
  #unseen = new Set<WorldStream>()
  #wroteAtMs = -Infinity
  #nextAtMs = Infinity
  #cancel: (() => void) | undefined
  #isWriting = false

  constructor(streams: Streams, clock: Clock) {
    this.#streams = streams
    this.#clock = clock
  }

  hasNews(world: WorldStream): void {
    this.#news.add(world)
    this.#waitFor(writeEachMs)
  }

  /** Writes so long after the last time, or earlier. */
  #waitFor(pauseMs: number): void {
    const atMs = Math.max(this.#clock.now(), this.#wroteAtMs + pauseMs)
    if (this.#isWriting || this.#nextAtMs <= atMs) return
    this.#cancel?.()
    this.#nextAtMs = atMs
    this.#cancel = this.#clock.at(atMs, () => void this.#write())
  }

  async #write(): Promise<void> {
    this.#nextAtMs = Infinity
    this.#isWriting = true
    this.#wroteAtMs = this.#clock.now()
    const worlds = [...new Set([...this.#news, ...this.#unseen])]
    this.#news = new Set()
    try {
      await this.#ask(worlds.filter(({ askedAtMs }) => askedAtMs + askEachMs <= this.#wroteAtMs))
      const texts = worlds.flatMap((world) => [...world.due()])
      if (texts.length > 0) await this.#streams.write(texts)
    } catch {
      for (const world of worlds) world.distrust()
    }
    this.#unseen = new Set(worlds.filter(({ isUnseen }) => isUnseen))
    this.#isWriting = false
    if (this.#news.size > 0) this.#waitFor(writeEachMs)
    else if (this.#unseen.size > 0) this.#waitFor(askEachMs)
  }

  async #ask(worlds: readonly WorldStream[]): Promise<void> {
    if (worlds.length === 0) return
    const watches = await this.#streams.watched(worlds.map(({ name }) => name))
    for (const [index, world] of worlds.entries()) {
      world.askedAtMs = this.#wroteAtMs
      world.watch = watches[index]
    }
  }
}
