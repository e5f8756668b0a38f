import { Conversation } from '../../components/agent/conversation.ts'
import type { Message, ToolCallBlock } from '../protocol/message.ts'
import { SubagentSession, type SubagentSessionData } from '../../components/sessions/subagent-session.ts'
import type { WatchedWorld } from '../sim/law.ts'
import { lastWords } from '../rules/projection/text-of.ts'
import type { Entity } from '../world/component.ts'
import { inspect } from '../world/inspect.ts'
import { World } from '../world/world.ts'

/** What a matcher looks at: one world, or all worlds of a simulated run. */
export type Seen = World | { readonly worlds: ReadonlyMap<string, Pick<WatchedWorld, 'world' | 'label'>> }

/** An agent's conversation, and where it was held. */
export interface Talk {
  /** Of the world, with the agent behind it: `team, agent 1`. */
  readonly who: string
  readonly agent: Entity
  readonly messages: readonly Message[]
  /** The last text that its model gave; `undefined` if it gave none. */
  readonly answer: string | undefined
}

/** The conversations of all agents, or of one agent of the root world. @throws TypeError for what holds no worlds */
export function talksIn(seen: Seen, agent?: Entity): readonly Talk[] {
  const all = worldsIn(seen).flatMap(({ world, label }) =>
    world.entitiesWith(Conversation).map((speaker) => ({
      who: `${label}, agent ${speaker}`,
      agent: speaker,
      messages: world.read(speaker, Conversation),
      answer: lastWords(world, speaker) || undefined,
      isRoot: !label.includes('/'),
    })),
  )
  return agent === undefined ? all : all.filter((talk) => talk.isRoot && talk.agent === agent)
}

/** The tools that an agent's model has called, in order. */
export function callsOf({ messages }: Talk): readonly ToolCallBlock[] {
  return messages.flatMap((message) =>
    message.role === 'assistant' ? message.content.filter((block) => block.type === 'tool-call') : [],
  )
}

/** The sessions of all agents. */
export function sessionsIn(seen: Seen): readonly SubagentSessionData[] {
  return worldsIn(seen).flatMap(({ world }) =>
    world.entitiesWith(SubagentSession).map((session) => world.read(session, SubagentSession)),
  )
}

function worldsIn(seen: Seen): readonly Pick<WatchedWorld, 'world' | 'label'>[] {
  if (seen instanceof World) return [{ world: seen, label: seen.name }]
  if (typeof seen === 'object' && seen !== null && seen.worlds instanceof Map) return [...seen.worlds.values()]
  throw new TypeError(`expected a World or what simulate() gives, got ${inspect(seen)}`)
}
