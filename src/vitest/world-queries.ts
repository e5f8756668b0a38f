import { Conversation } from '../../components/agent/conversation.ts'
import type { Message, ToolCallBlock } from '../protocol/message.ts'
import { SubagentSession, type SubagentSessionData } from '../../components/sessions/subagent-session.ts'
import type { WatchedWorld } from '../sim/law.ts'
import { lastWords } from '../rules/projection/text-of.ts'
import type { Entity } from '../world/component.ts'
import { inspect } from '../base/inspect.ts'
import { World } from '../world/world.ts'

/** What the matchers look at. */
export type Seen = World | { readonly worlds: ReadonlyMap<string, Pick<WatchedWorld, 'world' | 'label'>> }

export interface Talk {
  /** Such as `team, agent 1`. */
  readonly who: string
  readonly agent: Entity
  readonly messages: readonly Message[]
  readonly answer: string | undefined
}

/** Conversations of all agents, or of one of the root world. @throws TypeError without worlds */
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

export function callsOf({ messages }: Talk): readonly ToolCallBlock[] {
  return messages.flatMap((message) =>
    message.role === 'assistant' ? message.content.filter((block) => block.type === 'tool-call') : [],
  )
}

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
