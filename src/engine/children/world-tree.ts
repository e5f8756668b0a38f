import { memoryStore } from '../../stores/memory.ts'
import type { Store, TranscriptHit, TranscriptLine } from '../../stores/port.ts'
import type { World } from '../../world/world.ts'
import { Ancestry } from '../../../components/sessions/ancestry.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'

/** What a root world and all worlds below it share while they are driven: locks, and without a store what it would keep. */
export class WorldTree {
  /** Without a store: holders' Worlds by name, as long as the tree lives. */
  readonly holders = new Map<string, World>()
  #transcripts: Store | undefined
  /** Resolves, for each locked World, once everyone who has locked it or waits for the lock has unlocked it. */
  readonly #locks = new Map<string, Promise<void>>()

  get transcripts(): Store {
    return (this.#transcripts ??= memoryStore())
  }

  /** Locks a World, in order of the calls; the returned function unlocks it. */
  async lock(name: string): Promise<() => void> {
    const before = this.#locks.get(name)
    const held = Promise.withResolvers<void>()
    const all = before === undefined ? held.promise : before.then(() => held.promise)
    this.#locks.set(name, all)
    await before
    return () => {
      if (this.#locks.get(name) === all) this.#locks.delete(name)
      held.resolve()
    }
  }

  unlocked(name: string): Promise<void> | undefined {
    return this.#locks.get(name)
  }
}

const trees = new WeakMap<World, WorldTree>()

/** The tree of a world: its own, unless it has joined its parent's. */
export function treeOf(world: World): WorldTree {
  let tree = trees.get(world)
  if (tree === undefined) trees.set(world, (tree = new WorldTree()))
  return tree
}

export function joinTree(world: World, parent: World): void {
  trees.set(world, treeOf(parent))
}

interface LinesBehind {
  readonly from: number
  /** The first line of a new transcript. */
  readonly head: TranscriptLine
  readonly lines: readonly TranscriptLine[]
}

/** Where the transcripts of a tree of worlds are: in its store, or in memory. */
export class TranscriptPlace {
  readonly #store: Store
  readonly #root: string
  /** Keys that lines were appended under since the world was taken up, until they are removed. */
  readonly #written = new Set<string>()

  constructor(world: World, store: Store | undefined, root: string) {
    this.#store = store ?? treeOf(world).transcripts
    this.#root = root
  }

  async append(key: string, lines: readonly TranscriptLine[], from: number): Promise<void> {
    await this.#store.appendTranscript(this.#root, key, lines, { from })
    this.#written.add(key)
  }

  hasWritten(key: string): boolean {
    return this.#written.has(key)
  }

  /** Appends where a transcript is thought to end, or else where it does end. Returns its number of lines. */
  async appendBehind(key: string, { from, head, lines }: LinesBehind): Promise<number> {
    const appendAt = async (place: number): Promise<number> => {
      const all = place === 0 ? [head, ...lines] : lines
      await this.append(key, all, place)
      return place + all.length
    }
    try {
      return await appendAt(from)
    } catch (error) {
      if (!(error instanceof EntiaError) || error.code !== 'invalid-argument') throw error
      return appendAt((await this.#store.transcript(this.#root, key))?.length ?? 0)
    }
  }

  async remove(key: string): Promise<void> {
    await this.#store.deleteTranscript(this.#root, key)
    this.#written.delete(key)
  }

  async search(key: string, query: string, limit: number): Promise<readonly TranscriptHit[]> {
    return this.#store.searchTranscript(this.#root, [key], query, { limit })
  }
}

export async function transcriptKey(world: World, agent: Entity): Promise<string> {
  const sessionId = world.get(agent, Ancestry)?.sessions.at(-1)?.sessionId
  return sessionId === undefined ? agentKey(world.name, agent) : sessionKey(sessionId)
}

/** Of an agent of a root world. */
export async function agentKey(world: string, agent: Entity): Promise<string> {
  const { fileStem } = await import('../../stores/file-name.ts')
  return `agents/agent-${agent}/sessions/${fileStem(world)}.jsonl`
}

export function sessionKey(sessionId: string): string {
  return `agents/subagent-${sessionId}/sessions/${sessionId}.jsonl`
}
