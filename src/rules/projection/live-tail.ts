import { oneLine } from '../../base/one-line.ts'
import { Boundary } from '../../../components/context/boundary.ts'
import { HolderOf, Seed, SharedBlock } from '../../../components/context/holder.ts'
import type { Message } from '../../protocol/message.ts'
import { ActiveFor, SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import type { Entity } from '../../world/component.ts'
import { hasAny } from '../../world/inspection.ts'
import type { World } from '../../world/world.ts'
import { Archival, type ArchivalData } from '../../../components/context/archival.ts'
import { Archive } from '../../../components/context/archive.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { permittedTools } from '../delegation/permissions.ts'
import { querySubagentDeclaration, spawnSubagentDeclaration } from '../delegation/declarations.ts'
import { field } from '../text/frames.ts'
import { taskLine } from '../context/archival-summary.ts'
import { Approval } from '../../../components/agent/tool-call.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { Outcome, OwnedBy } from '../../../components/effects/effect.ts'
import { Turn } from '../../../components/agent/turn.ts'
import { textOf } from './text-of.ts'
import { cutText } from '../../base/cut-text.ts'
import { countUpTo } from './places.ts'

const nothing: readonly Message[] = []

/**
 * The current state for an agent's model: made anew for each call, behind the last cache breakpoint and outside the
 * shared prefix.
 */
export function liveTail(world: World, agent: Entity): readonly Message[] {
  // Mostly no agent of a world has a tail, and none needs a look.
  if (!hasAny(world, [Boundary, HolderOf, ActiveFor, SharedBlock])) return nothing
  const subagents = liveSubagentsIn(world, agent, 'tail')
  const state = liveState(world, agent, subagents?.sessions)
  if (subagents === undefined && state === undefined) return nothing
  const blocks = [subagents?.text, state].filter((block) => block !== undefined)
  return [{ role: 'user', content: [{ type: 'text', text: blocks.join('\n\n') }] }]
}

const head = '# Live Subagents'
const meaning = 'These subagents hold archived prior turns of this conversation.'

/** What they are, and what the agent can do about it with the tools that it has. */
function explanationFor(world: World, agent: Entity): string {
  const tools = permittedTools(world, agent)
  const query = tools.find(({ name }) => name === querySubagentDeclaration.name)
  const spawn = tools.find(({ name }) => name === spawnSubagentDeclaration.name)
  const spawning = spawn && `a new one with \`spawn_subagent(task)\`${wayTo(spawn)} to fan out`
  if (query === undefined) return spawning === undefined ? meaning : `${meaning} Spawn ${spawning}.`
  const more = spawning === undefined ? '' : `; spawn ${spawning}`
  const how = `Use the \`query_subagent(id, prompt)\` tool${wayTo(query)} to retrieve detail${more}.`
  return `${meaning} ${how} Do not query unless you actually need the detail.`
}

/** How a model reaches a tool, if it is not shown it. */
function wayTo({ deferred }: Pick<ToolDeclaration, 'deferred'>): string {
  return deferred === true ? ' by way of `call_tool`' : ''
}

export interface LiveSubagents {
  readonly sessions: ReadonlySet<Entity>
  readonly text: string
}

/** The list of an agent's holders and active sessions, if it is placed there and not empty. */
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
  const hasArchived = (): boolean => world.get(agent, Archive)?.some(({ status }) => status === 'archived') === true
  if (shared !== undefined && active.length === 0 && !hasArchived()) {
    return shared === '' ? undefined : { sessions: new Set(), text: shared }
  }
  if (count === 0) return undefined
  const left = Math.max(0, count - config.maxListed)
  // Entities ascend as sessions were launched. The newest of each are enough, however many holders there are.
  const newest = [...holders.slice(-config.maxListed), ...active.slice(-config.maxListed)].toSorted((a, b) => a - b)
  const sessions = newest.slice(-config.maxListed)
  const lines = sessions.map((session) => lineOf(world.read(session, SubagentSession)))
  const first = left === 0 ? [] : [`- (${left} older subagents not listed)`]
  return {
    sessions: new Set(sessions),
    text: [`${head}\n\n${explanationFor(world, agent)}\n`, ...first, ...lines].join('\n'),
  }
}

/** The list of live subagents in a rendered system prompt; empty if there is none. */
export function blockIn(rendered: string | undefined): string {
  const from = rendered?.lastIndexOf(`${head}\n\n${meaning}`) ?? -1
  return from === -1 ? '' : (rendered?.slice(from) ?? '')
}

function lineOf({ kind, prompt, sessionId, status }: SubagentSessionData): string {
  const line = `- id: ${sessionId} | task: ${field(taskLine(prompt))}`
  return kind === 'holder' ? line : `${line} | status: ${status}`
}

/** Longest part of a request that is repeated, in characters. */
const maxRequestChars = 2_000
const none: ReadonlySet<Entity> = new Set()

/**
 * What is still open of what a boundary covers, so that its text need not say it. `undefined` without a boundary, or if
 * nothing is open.
 * @param listed sessions that the tail lists elsewhere
 */
export function liveState(world: World, agent: Entity, listed: ReadonlySet<Entity> = none): string | undefined {
  const seq = world.get(agent, Boundary)?.at(-1)?.seq
  if (seq === undefined) return undefined
  const rows = [...requestRow(world, agent, seq), ...sessionRows(world, agent, listed), ...approvalRows(world, agent)]
  return rows.length === 0 ? undefined : ['# Live state', '', ...rows.map((row) => `- ${row}`)].join('\n')
}

/** The message that opened the turn, if a boundary up to `seq` covers it. */
function requestRow(world: World, agent: Entity, seq: number): readonly string[] {
  const fromSeq = world.get(agent, Turn)?.fromSeq
  if (fromSeq === undefined || fromSeq > seq) return []
  const opening = world.get(agent, Conversation)?.[countUpTo(world, agent, fromSeq) - 1]
  const text = oneLine(cutText(textOf(opening), maxRequestChars))
  return text.trim() === '' ? [] : [`request: ${text}`]
}

function sessionRows(world: World, agent: Entity, listed: ReadonlySet<Entity>): readonly string[] {
  const active = world.referrers(ActiveFor, agent).filter((session) => !listed.has(session))
  return active.flatMap((session) => {
    if (world.has(session, Outcome)) return []
    const { category, prompt, sessionId, status } = world.read(session, SubagentSession)
    return [`session ${sessionId} (${oneLine(category)}): ${status}, ${firstLine(prompt)}`]
  })
}

function firstLine(text: string): string {
  return oneLine(text.trim().split(/\r\n|[\n\r]/, 1)[0] ?? '')
}

function approvalRows(world: World, agent: Entity): readonly string[] {
  return world.referrers(OwnedBy, agent).flatMap((owned) => {
    const approval = world.get(owned, Approval)
    if (approval === undefined || world.has(owned, Outcome)) return []
    return [`approval ${approval.id}: ${oneLine(approval.tool)}, waiting for a person`]
  })
}
