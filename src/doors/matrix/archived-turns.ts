import { z } from 'zod'
import { lazily } from '../../base/lazily.ts'
import { readIfThere } from './read-if-there.ts'
import type { MatrixRoom } from './room-sessions.ts'

/** A turn of a chat session, as a person reads it. */
export interface ArchivedTurn {
  /** Its number in the chat session, from 1. */
  readonly turn: number
  readonly messages: readonly {
    readonly role: 'user' | 'assistant'
    readonly text: string
    /** Unix time in milliseconds. */
    readonly at: number
  }[]
}

/** Turns of a room that were not archived yet. */
export interface ArchivedRoom extends MatrixRoom {
  /** At least one, in order. */
  readonly turns: readonly ArchivedTurn[]
}

/** Keeps turns somewhere. They count as archived once its promise has resolved; otherwise they come again. */
export type ArchiveSink = (room: ArchivedRoom) => unknown

const Line = lazily(() =>
  z.discriminatedUnion('type', [
    z.object({
      type: z.literal('message'),
      at: z.number(),
      turn: z.number(),
      role: z.string(),
      content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
    }),
    z.object({ type: z.literal('turn-end') }),
  ]),
)

/** The ended turns of a transcript behind one of them. Results of tools and calls are left out: the transcript has them. */
export async function endedTurns(path: string, behind: number): Promise<readonly ArchivedTurn[]> {
  const text = (await readIfThere(path)) ?? ''
  const turns = new Map<number, ArchivedTurn['messages'][number][]>()
  let ended = 0
  let newest = 0
  // What stands behind the last line end is being written.
  for (const json of text.split('\n').slice(0, -1)) {
    const line = readLine(json)
    if (line?.type === 'turn-end') ended = newest
    if (line?.type !== 'message') continue
    newest = line.turn
    if (line.turn <= behind) continue
    const messages = turns.get(line.turn) ?? []
    turns.set(line.turn, messages)
    const { at, content, role } = line
    const said = content.flatMap((block) => (block.type === 'text' && block.text !== undefined ? [block.text] : []))
    if ((role === 'user' || role === 'assistant') && said.length > 0) messages.push({ role, text: said.join('\n'), at })
  }
  return [...turns].filter(([turn]) => turn <= ended).map(([turn, messages]) => ({ turn, messages }))
}

function readLine(json: string) {
  try {
    return Line().safeParse(JSON.parse(json)).data
  } catch {
    return undefined
  }
}
