import { signal } from '@preact/signals'
import type { TokensReply } from '../../reading/wire.ts'
import { connection } from './state.ts'

/** What messages cost to read, by `<world>/<agent>/<seq>`. */
export const tokenCounts = signal<ReadonlyMap<string, number>>(new Map())
const asked = new Set<string>()
const maxPerRequest = 500

export interface Uncounted {
  readonly seq: number
  readonly index: number
}

/** Asks what messages of a conversation cost to read, each once. */
export async function wantTokens(
  place: { readonly world: string; readonly agent: number; readonly tick: number },
  messages: readonly Uncounted[],
): Promise<void> {
  const { agent, tick, world } = place
  const keyOf = ({ seq }: Uncounted) => `${world}/${agent}/${seq}`
  const wanted = messages.filter((message) => !asked.has(keyOf(message)))
  const [first] = wanted
  if (first === undefined) return
  const from = Math.min(...wanted.map(({ index }) => index))
  const to = Math.min(Math.max(...wanted.map(({ index }) => index)) + 1, from + maxPerRequest)
  for (const message of wanted) asked.add(keyOf(message))
  try {
    const { tokens } = await connection.get<TokensReply>('tokens', { world, agent, tick, from, to })
    const now = new Map(tokenCounts.value)
    for (const message of wanted) {
      const count = tokens[message.index - from]
      if (count !== undefined) now.set(keyOf(message), count)
    }
    tokenCounts.value = now
  } catch {
    // A message goes without.
  }
}
