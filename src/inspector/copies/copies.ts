import { Serial } from '../../base/serial.ts'
import { summaryPathOf } from '../../engine/children/session-records.ts'
import { Approval, ApprovalOf } from '../../../components/agent/tool-call.ts'
import type { Host } from '../../engine/effects/host.ts'
import { realClock } from '../../engine/loop/clock.ts'
import { Runner } from '../../engine/loop/runner.ts'
import { VirtualClock } from '../../engine/loop/virtual-clock.ts'
import type { SavedWorld } from '../../engine/recording/recording.ts'
import type { Store } from '../../stores/port.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import type { Component } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { World } from '../../world/world.ts'
import { LivingSource } from '../living-source.ts'
import type { CopyQuestion, ForkEdit, WorldEntry } from '../reading/wire.ts'
import type { Source } from '../source.ts'
import { copiedTree, type CopiedWorld, firstBatch, rawWorldAt, withNewIds } from './copied-tree.ts'
import { CopyBook } from './copy-book.ts'
import { CopyHost, type PersonsAnswer } from './copy-host.ts'
import { edit, settleInFlight } from './prepare-copy.ts'

/** Who answers in a copy. `none`: it is not driven. */
export type CopyDriver = 'host' | 'recording' | 'none'

export interface CopyOrder {
  readonly world: string
  readonly tick: number
  readonly name?: string | undefined
  readonly edits?: readonly ForkEdit[] | undefined
  readonly driver: CopyDriver
}

/** A copy that was made here. */
export interface Copy {
  readonly name: string
  readonly of: { readonly world: string; readonly tick: number }
  readonly questions: ReadonlyMap<string, CopyQuestion>
  /** Why it went no further. */
  readonly end: string | undefined
}

interface MadeCopy extends Copy {
  readonly questions: Map<string, CopyQuestion>
  readonly answers: Map<string, (answer: PersonsAnswer) => void>
  /** Calls that a person has approved, as `<world>/<call>`. */
  readonly approved: Set<string>
  source: LivingSource | undefined
  end: string | undefined
}

/** Names that are tried before giving up. */
const maxNames = 10_000

/** Makes copies of worlds of a source, in a store, and drives them. The original is only read. */
export class Copies {
  readonly store: Store
  readonly made = new Map<string, MadeCopy>()
  readonly #source: Source
  readonly #changed: (name: string) => void
  /** In order: two copies at once must not take the same name. */
  readonly #making = new Serial()

  /** @param changed a copy has begun, has asked or has ended */
  constructor(source: Source, store: Store, changed: (name: string) => void) {
    this.#source = source
    this.store = store
    this.#changed = changed
  }

  /** Makes a copy and begins to drive it. Resolves with its name. @throws what reading, editing and restoring throw */
  async make(order: CopyOrder): Promise<string> {
    return this.#making.run(() => this.#make(order))
  }

  /** Answers a question of a copy. @throws `invalid-argument` */
  reply(world: string, id: string, answer: PersonsAnswer): void {
    for (const copy of this.made.values()) {
      const resolve = copy.answers.get(id)
      if (resolve === undefined) continue
      const { canRun } = copy.questions.get(id) as CopyQuestion
      if (answer.how === 'run' && !canRun)
        throw new EntiaError('invalid-argument', 'This program has no such tool. Give the answer, or refuse.')
      resolve(answer)
      return
    }
    throw new EntiaError('invalid-argument', `World '${world}' has no open question ${id}. It was answered already.`)
  }

  /** A person has approved a call in a copy, which then runs without being asked about again. */
  noteApproval(copy: string, world: World, approval: string): void {
    const asked = world.entitiesWith(Approval).find((each) => world.read(each, Approval).id === approval)
    const call = asked === undefined ? undefined : world.get(asked, ApprovalOf)?.call
    if (call !== undefined) this.made.get(copy)?.approved.add(`${world.name}/${call}`)
  }

  async close(): Promise<void> {
    await this.#making.settled()
    for (const { source } of this.made.values()) {
      source?.close()
      await source?.runner.stop()
    }
  }

  async #make({ driver, edits = [], name: wanted, tick, world: of }: CopyOrder): Promise<string> {
    const components = byName(this.#source.components)
    const name = await this.#freeName(of, wanted)
    const { renamed, worlds } = await copiedTree(this.#source, of, tick, name)
    const [root, ...below] = worlds as [CopiedWorld, ...CopiedWorld[]]
    edit(root.world, edits, components)
    for (const { world } of worlds) settleInFlight(world, components)
    // What the recording says is read before anything is written: a copy that cannot be driven is not made.
    const book = driver === 'none' ? undefined : await this.#book(of, worlds)
    for (const copied of [...below, root]) await this.#write(copied, name, renamed)
    await this.#copyTexts(worlds, of, name, renamed)
    const made: MadeCopy = {
      name,
      of: { world: of, tick },
      source: undefined,
      questions: new Map(),
      answers: new Map(),
      approved: new Set(),
      end: undefined,
    }
    this.made.set(name, made)
    if (book !== undefined) await this.#drive(made, book, driver === 'host' ? this.#source.runner?.host : undefined)
    this.#changed(name)
    return name
  }

  async #freeName(of: string, wanted: string | undefined): Promise<string> {
    const isTaken = async (name: string): Promise<boolean> =>
      this.made.has(name) ||
      (await this.#source.entry(name)) !== undefined ||
      (await this.store.list({ root: name })).length > 0
    if (wanted !== undefined) {
      if (!(await isTaken(wanted))) return wanted
      throw new EntiaError('world-exists', `There is a world '${wanted}' already. Choose another name.`)
    }
    for (let number = 1; number <= maxNames; number++) {
      const name = `${of}-fork-${number}`
      if (!(await isTaken(name))) return name
    }
    throw new EntiaError('limit-reached', `World '${of}' has ${maxNames} copies. Delete some, or give a name.`)
  }

  async #write(copied: CopiedWorld, root: string, renamed: ReadonlyMap<string, string>): Promise<void> {
    const { name } = copied
    const holder = 'the inspector'
    const journal = await this.store.open(name, { holder, record: true, ...(name !== root && { root }) })
    try {
      await journal.commit(firstBatch(copied, renamed))
    } finally {
      await journal.close()
    }
  }

  /** Long texts lie beside a world: those that it names come along. */
  async #copyTexts(
    worlds: readonly CopiedWorld[],
    of: string,
    to: string,
    renamed: ReadonlyMap<string, string>,
  ): Promise<void> {
    const root = (await this.#source.entry(of))?.root ?? of
    const keys = new Set<string>()
    for (const { world } of worlds) for (const line of world.snapshot()) collectKeys(JSON.parse(line), keys)
    for (const key of keys) {
      const text = await this.#source.text(root, key)
      if (text !== undefined) await this.store.putText(to, withNewIds(key, renamed), withNewIds(text, renamed))
    }
  }

  /** All that the run was answered after this tick. */
  async #book(of: string, worlds: readonly CopiedWorld[]): Promise<CopyBook> {
    const entries = await this.#source.worlds()
    const rootName = entries.find(({ name }) => name === of)?.root ?? of
    const names = [of, ...entries.flatMap(({ name, root: above }) => (above === rootName && name !== of ? name : []))]
    const saved: SavedWorld[] = []
    const since = new Map(worlds.map((world) => [world.of, world.tick]))
    for (const name of names) {
      // What is not kept any more cannot answer.
      const stored = await this.#source.read(name, { from: since.get(name) ?? 0 }).catch(() => undefined)
      if (stored !== undefined) saved.push({ name, ...stored })
    }
    return new CopyBook(saved, this.#source.components, since)
  }

  async #drive(copy: MadeCopy, book: CopyBook, living: Host | undefined): Promise<void> {
    const { name, of } = copy
    const raw = await rawWorldAt(this.#source, of.world, of.tick)
    const clock = living?.clock ?? new VirtualClock({ dateMs: raw?.dateMs ?? 0 })
    const { components, systems } = this.#source
    const end = (why: string): void => {
      copy.end ??= why
      this.#changed(name)
    }
    const host = new CopyHost({
      book,
      clock: living === undefined ? clock : (living.clock ?? realClock),
      living,
      world: await this.#restored(name),
      ask: living && ((question, signal) => this.#ask(copy, question, signal)),
      missed: (message) => {
        end(`${message} The copy stands there.`)
        setImmediate(() => void copy.source?.runner.stop())
      },
      isApproved: (world, call) => copy.approved.has(`${world}/${call}`),
    })
    const runner = await Runner.open({ store: this.store, name, host, systems, components, record: true })
    copy.source = new LivingSource(runner)
    copy.source.watch((news) => {
      if (news.type === 'ended' && news.isFailure) end(news.message)
    })
    await runner.start()
    void this.#follow(runner, living === undefined, end)
  }

  /** A copy of a recording is over when the recording is; another goes on for who posts to it. */
  async #follow(runner: Runner, isRecorded: boolean, end: (why: string) => void): Promise<void> {
    try {
      await runner.idle()
      if (!isRecorded) return
      end(`The recording has no more for ${runner.world.name}: it went as far as the run did.`)
      await runner.stop()
    } catch (error) {
      end(thrownMessage(error))
    }
  }

  /** The copy as it lies in the store, for what it says of its Host. */
  async #restored(name: string): Promise<World> {
    const { components, systems } = this.#source
    const look = await Runner.open({ store: this.store, name, systems, components, record: true })
    await look.stop()
    return look.world
  }

  #ask(copy: MadeCopy, question: Omit<CopyQuestion, 'id'>, signal: AbortSignal): Promise<PersonsAnswer> {
    const id = crypto.randomUUID()
    return new Promise((resolve) => {
      const done = (answer: PersonsAnswer): void => {
        copy.questions.delete(id)
        copy.answers.delete(id)
        this.#changed(copy.name)
        resolve(answer)
      }
      copy.questions.set(id, { id, ...question })
      copy.answers.set(id, done)
      signal.addEventListener('abort', () => done({ how: 'refuse', reason: 'It was called off.' }), { once: true })
      this.#changed(copy.name)
    })
  }
}

/** What the list of worlds says of a copy besides. */
export function copyFacts({ end, of, questions }: Copy): Pick<WorldEntry, 'copyOf' | 'asks' | 'stopped'> {
  return { copyOf: of, asks: [...questions.values()], ...(end !== undefined && { stopped: end }) }
}

function byName(components: Iterable<Component>): ReadonlyMap<string, Component> {
  return new Map(Array.from(components, (token) => [token.name, token]))
}

/** Fields that hold the key of a text beside the world. */
const keyFields: ReadonlySet<string> = new Set(['recordPath', 'promptRecord', 'key'])

function collectKeys(value: unknown, keys: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, part] of Object.entries(value)) {
    if (typeof part === 'object') collectKeys(part, keys)
    else if (typeof part === 'string' && keyFields.has(name) && part !== '') {
      keys.add(part)
      if (name === 'recordPath') keys.add(summaryPathOf(part))
    }
  }
}
