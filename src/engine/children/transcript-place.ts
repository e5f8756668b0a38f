import { Ancestry } from '../../../components/sessions/ancestry.ts'
import type { Store, TranscriptHit, TranscriptLine } from '../../stores/port.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { World } from '../../world/world.ts'
import { treeOf } from './world-tree.ts'

/** Lines for a transcript that has so many. */
interface LinesBehind {
  readonly from: number
  /** Its first line, where there is none. */
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

  /** Appends lines; what is there already is not written again. */
  async append(key: string, lines: readonly TranscriptLine[], from: number): Promise<void> {
    await this.#store.appendTranscript(this.#root, key, lines, { from })
    this.#written.add(key)
  }

  /** Whether lines were appended under a key since the world was taken up. */
  hasWritten(key: string): boolean {
    return this.#written.has(key)
  }

  /**
   * Appends lines where a transcript is thought to end, or, if it is another one than the world remembers, where it ends.
   *
   * @returns how many lines are in it then
   */
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

/** The key of an agent's transcript. */
export async function transcriptKey(world: World, agent: Entity): Promise<string> {
  const sessionId = world.get(agent, Ancestry)?.sessions.at(-1)?.sessionId
  if (sessionId !== undefined) return sessionKey(sessionId)
  const { fileStem } = await import('../../stores/file-name.ts')
  return `agents/agent-${agent}/sessions/${fileStem(world.name)}.jsonl`
}

/** The key of a session's transcript. */
export function sessionKey(sessionId: string): string {
  return `agents/subagent-${sessionId}/sessions/${sessionId}.jsonl`
}
