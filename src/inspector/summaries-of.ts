import { thrownMessage } from '../base/thrown-message.ts'
import { EntiaError } from '../base/entia-error.ts'
import { turns } from './in-turns.ts'
import { Newest } from './newest.ts'
import { summaryOf, type WorldSummary } from './reading/summaries.ts'
import type { Problem, SummariesReply } from './reading/wire.ts'
import type { Source } from './source.ts'
import { noSuchWorld } from './ticks.ts'

/** A reply that took so long goes out with what it has: the page asks for the rest, and shows this meanwhile. */
const maxReplyMs = 250

/** What the agents of worlds do as of their newest ticks. */
export class Summaries {
  readonly #source: Source
  readonly #newest: Newest<WorldSummary>

  constructor(source: Source) {
    this.#source = source
    this.#newest = new Newest(source, summaryOf)
  }

  /** In the order in which they are wanted; of those for which there is no time, nothing. */
  async of(worlds: readonly string[]): Promise<SummariesReply['summaries']> {
    const endMs = performance.now() + maxReplyMs
    const turn = turns()
    const found = new Map<string, WorldSummary | { readonly problem: Problem }>()
    for (const [index, world] of worlds.entries()) {
      if (index > 0 && performance.now() > endMs) break
      try {
        const summary = await this.#newest.of(world)
        found.set(world, summary ?? { problem: problemIn(noSuchWorld(this.#source, world)) })
      } catch (error) {
        found.set(world, { problem: problemIn(error) })
      }
      await turn()
    }
    return Object.fromEntries(found)
  }
}

export function problemIn(error: unknown): Problem {
  if (error instanceof EntiaError) return { code: error.code, message: error.message }
  return { code: 'internal', message: thrownMessage(error) }
}
