import { Ancestry } from '../../components/sessions/ancestry.ts'
import { ModelCall } from '../../components/effects/model-call.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import { SubagentWait } from '../../components/sessions/subagent-wait.ts'
import { Turn } from '../../components/agent/turn.ts'
import { Usage } from '../../components/money/usage.ts'
import { JournalWriter } from '../engine/loop/journal-writer.ts'
import {
  Conversation,
  EntiaError,
  type Entity,
  LastTurn,
  type Message,
  type Store,
  textOf,
  type World,
} from '../index.ts'
import { reportedCalls } from '../rules/projection/call-result.ts'
import {
  type AnsweredTool,
  answeredTools,
  type FoundAgent,
  type FoundSession,
  openTools,
  sessionName,
  type Totals,
} from './ask-event.ts'
import { restoring } from './lead.ts'

/** An agent and all sessions below it. Only for worlds that are not driven. */
export async function foundTree(store: Store, world: World, agent: Entity) {
  const lead = foundAgent(world, agent)
  const tree = await sessionsBelow({ store, root: world.name }, world, agent, [])
  return { lead, tree, totals: totalsOf(lead, tree) }
}

interface Place {
  readonly store: Store
  /** The world in whose database all sessions are. */
  readonly root: string
}

interface SessionWorld {
  readonly world: World
  readonly agent: Entity
}

/** In launch order, each followed by its own sessions. */
async function sessionsBelow(
  place: Place,
  world: World,
  agent: Entity,
  above: readonly string[],
): Promise<FoundSession[]> {
  const found: FoundSession[] = []
  for (const session of world.referrers(SubagentSession, agent)) {
    const record = world.read(session, SubagentSession)
    const { sessionId, status, startedAtMs, finishedAtMs = world.nowMs, error, summary } = record
    const path = [...above, sessionId]
    const child = await sessionWorld(place, sessionId)
    found.push({
      ...(child === undefined ? notStarted : foundAgent(child.world, child.agent)),
      path,
      name: sessionName(child === undefined ? record.prompt : taskOf(child.world, child.agent)),
      status,
      isAsked: status === 'succeeded' && child?.world.has(child.agent, Turn) === true,
      durationMs: startedAtMs === undefined ? 0 : finishedAtMs - startedAtMs,
      note: error ?? (typeof summary === 'string' ? summary : undefined),
    })
    if (child !== undefined) found.push(...(await sessionsBelow(place, child.world, child.agent, path)))
  }
  return found
}

/** The last commit; `undefined` if the session has not begun or cannot be read. */
async function sessionWorld({ store, root }: Place, sessionId: string): Promise<SessionWorld | undefined> {
  const journal = await JournalWriter.open(sessionId, { store, root })
  try {
    const found = await journal.restore({ ...restoring, components: Object.values(restoring.components) })
    const agent = found?.world.entitiesWith(Ancestry)[0]
    return found === undefined || agent === undefined ? undefined : { world: found.world, agent }
  } catch (error) {
    if (error instanceof EntiaError) return undefined
    throw error
  } finally {
    await journal.close()
  }
}

function foundAgent(world: World, agent: Entity): FoundAgent {
  const { calls: modelCalls, costNanoUsd: _, ...usage } = world.get(agent, Usage) ?? { calls: 0 }
  const messages: readonly Message[] = world.get(agent, Conversation) ?? []
  const answered = answeredOf(world, agent)
  const lastTurn = world.has(agent, Turn) ? undefined : world.get(agent, LastTurn)
  return {
    tick: world.tick,
    steps: modelCalls + world.query(ModelCall).length,
    modelCalls,
    toolCalls: answered.length,
    usage,
    durationMs: lastTurn?.endedAtMs ?? world.nowMs,
    open: openTools(messages).filter(({ callId }) => !answered.some((call) => call.callId === callId)),
    isAsleep: world.has(agent, SubagentWait),
  }
}

/** Answered tool calls, oldest first, with those whose result waits for that of an earlier call. */
export function answeredOf(world: World, agent: Entity): readonly AnsweredTool[] {
  const waiting = reportedCalls(world, agent).map(({ arguments: input, callId, content, isError, name: tool }) => {
    return { callId, tool, arguments: input, isError, text: textOf({ role: 'tool', callId, name: tool, content }) }
  })
  return [...answeredTools([...(world.get(agent, Conversation) ?? [])]), ...waiting]
}

const notStarted: FoundAgent = {
  tick: -1,
  steps: 0,
  modelCalls: 0,
  toolCalls: 0,
  usage: {},
  durationMs: 0,
  open: [],
  isAsleep: false,
}

function taskOf(world: World, agent: Entity): string {
  return textOf(world.read(agent, Conversation).find(({ role }) => role === 'user'))
}

function totalsOf(lead: FoundAgent, sessions: readonly FoundSession[]): Totals {
  const all = [lead, ...sessions]
  const sum = (count: (agent: FoundAgent) => number): number => all.reduce((total, one) => total + count(one), 0)
  const usage: Record<string, number> = {}
  for (const one of all) {
    for (const [kind, tokens = 0] of Object.entries(one.usage)) usage[kind] = (usage[kind] ?? 0) + tokens
  }
  return {
    modelCalls: sum(({ modelCalls }) => modelCalls),
    toolCalls: sum(({ toolCalls }) => toolCalls),
    sessions: sessions.length,
    usage,
    durationMs: lead.durationMs,
  }
}
