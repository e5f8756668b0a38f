import { WorkspaceEntry, type EntryType, WorkspaceState } from '../../../components/agent/workspace-entry.ts'
import { handleNumber } from '../../rules/handles/handle-name.ts'
import { entriesOf } from '../../rules/workspace/entries-of.ts'
import { nameOf } from '../../rules/workspace/retrieval.ts'
import { newlyStale } from '../../rules/workspace/staleness.ts'
import { filledText, flag, refuseMisfit } from '../../base/option-shapes.ts'
import { assertSession } from '../chat/assert-session.ts'
import type { ChatSession } from '../chat/chat-session.ts'

/** What a call of a tool has come to. */
export interface WorkspaceItem {
  /** Its handle, such as `.h_001`; else its key. */
  readonly name: string
  /** What it is a result for, such as `file:src/a.ts` or `bash:npm test`. */
  readonly key: string
  /** The tool and its arguments, cut. */
  readonly origin: string
  readonly type: EntryType
  /** Number of the turn. */
  readonly turn: number
  readonly sizeBytes: number
  /** A file that it is from has changed since, or what it was made from has, or the call was made again. */
  readonly isStale: boolean
  /** It is kept however old it becomes. */
  readonly isPinned: boolean
}

/** The results that the agent of a chat session keeps, the oldest first. @throws `invalid-argument` */
export function listWorkspace(session: ChatSession): readonly WorkspaceItem[] {
  assertSession('listWorkspace', session)
  const { agent, world } = session
  const entries = entriesOf(world, agent)
  const stale = newlyStale(entries, world.get(agent, WorkspaceState)?.compared ?? 0)
  return entries.map((entry) => {
    const { isPinned = false, key, origin, sizeBytes, turn, type } = entry
    const isStale = entry.isStale === true || stale.has(entry)
    return { name: nameOf(entry), key, origin, type, turn, sizeBytes, isStale, isPinned }
  })
}

/**
 * Pins a result, or unpins it. A pinned one is kept, and is the first that a turn begins with.
 *
 * @param name a handle or a key; of several with one key, the newest
 * @returns by its promise, whether there is such a result
 * @throws by its promise: `invalid-argument`, `session-closed`
 */
export async function pinResult(session: ChatSession, name: string, isPinned = true): Promise<boolean> {
  assertSession('pinResult', session)
  refuseMisfit('pinResult', 'name', name, filledText)
  refuseMisfit('pinResult', 'isPinned', isPinned, flag)
  await session.start()
  const { agent, runner } = session
  const number = handleNumber(name)
  return runner.change((world) => {
    const found = world.referrers(WorkspaceEntry, agent).findLast((entity) => {
      const { handles = [], key } = world.read(entity, WorkspaceEntry)
      return number === undefined ? key === name : handles.includes(number)
    })
    if (found === undefined) return false
    world.patch(found, WorkspaceEntry, { isPinned: isPinned ? true : undefined })
    return true
  })
}
