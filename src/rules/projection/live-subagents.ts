import { Archival, type ArchivalData } from '../../../components/context/archival.ts'
import { Archive } from '../../../components/context/archive.ts'
import { HolderOf, Seed, SharedBlock } from '../../../components/context/holder.ts'
import { ActiveFor, SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { field } from '../text/frames.ts'
import { taskLine } from '../context/holder-task.ts'

const head = '# Live Subagents'
const explanation =
  'These subagents hold archived prior turns of this conversation. Use the `query_subagent(id, prompt)` tool to retrieve ' +
  'detail; spawn a new one with `spawn_subagent(task)` to fan out. Do not query unless you actually need the detail.'

/** A text that lists sessions, and the sessions. */
export interface LiveSubagents {
  readonly sessions: ReadonlySet<Entity>
  readonly text: string
}

/**
 * The block that lists an agent's holders and the sessions that it has under way, if it goes there and there is something
 * to list.
 */
export function liveSubagentsIn(
  world: World,
  agent: Entity,
  placement: ArchivalData['placement'],
): LiveSubagents | undefined {
  const config = world.get(agent, Archival)
  if (config?.placement !== placement || world.has(agent, Seed)) return undefined
  const holders = world.referrers(HolderOf, agent)
  const active = world.referrers(ActiveFor, agent)
  const count = holders.length + active.length
  const shared = world.get(agent, SharedBlock)?.text
  // What was known at the beginning came with it.
  if (shared !== undefined && count === sharedCount(world, agent)) {
    return shared === '' ? undefined : { sessions: new Set(), text: shared }
  }
  if (count === 0) return undefined
  const left = Math.max(0, count - config.maxListed)
  // Entities ascend as sessions were launched. The newest of each are enough, however many holders there are.
  const newest = [...holders.slice(-config.maxListed), ...active.slice(-config.maxListed)].toSorted((a, b) => a - b)
  const sessions = newest.slice(-config.maxListed)
  const lines = sessions.map((session) => lineOf(world.read(session, SubagentSession)))
  const first = left === 0 ? [] : [`- (${left} older subagents not listed)`]
  return { sessions: new Set(sessions), text: [`${head}\n\n${explanation}\n`, ...first, ...lines].join('\n') }
}

/** The list of live subagents in a rendered system prompt; empty if there is none. */
export function blockIn(rendered: string | undefined): string {
  const from = rendered?.lastIndexOf(`${head}\n\n${explanation}\n`) ?? -1
  return from === -1 ? '' : (rendered?.slice(from) ?? '')
}

/** How many of an agent's holders are those of its parent. */
function sharedCount(world: World, agent: Entity): number {
  return (world.get(agent, Archive) ?? []).some(({ status }) => status === 'archived')
    ? -1
    : world.referrers(HolderOf, agent).length
}

function lineOf({ kind, prompt, sessionId, status }: SubagentSessionData): string {
  const line = `- id: ${sessionId} | task: ${field(taskLine(prompt))}`
  return kind === 'holder' ? line : `${line} | status: ${status}`
}
