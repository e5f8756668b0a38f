import { AgentTranscript } from '../../../components/context/agent-transcript.ts'
import { Ancestry } from '../../../components/sessions/ancestry.ts'
import { Archival, type ArchivalData } from '../../../components/context/archival.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { Seed } from '../../../components/context/holder.ts'
import { HostFacts } from '../../../components/agent/host-facts.ts'
import type { HostFactsData } from '../../protocol/host.ts'
import { Limits } from '../../../components/agent/turn.ts'
import { Llm, type LlmData } from '../../../components/agent/llm.ts'
import { Metered } from '../../../components/money/metered.ts'
import type { Message } from '../../protocol/message.ts'
import { subagentDefaults } from '../../../components/sessions/subagent-registry.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import { canonical } from '../../world/canonical.ts'
import type { Component } from '../../world/component.ts'
import type { Json } from '../../world/json.ts'
import { hashText } from '../../world/random.ts'
import { World } from '../../world/world.ts'
import type { System } from '../../world/world.ts'
import type { ChildParts } from './child-world.ts'

/** What a holder is made from. */
export interface HolderParts {
  readonly sessionId: string
  readonly task: string
  readonly llm: LlmData
  /** The sessions above, outermost first. */
  readonly above: ChildParts['above']
  /** The turn, from the message that opened it. */
  readonly seed: readonly Message[]
  /** Of the agent whose turn it is. */
  readonly archival: ArchivalData | undefined
  readonly facts: HostFactsData
  readonly systems: readonly System[]
}

/** Lines of a holder's transcript besides those of the messages: the first, and the summary. */
const furtherLines = 2
/** Further fields of requests by which a model would get tools of its provider's own. */
const toolFields = new Set([
  'functions',
  'function_call',
  'mcp_servers',
  'parallel_tool_calls',
  'plugins',
  'tool_choice',
  'tools',
  'web_search_options',
])

/** The World of a holder, which never ticks before it is asked. */
export function holderWorld(parts: HolderParts): World {
  const { above, archival, facts, llm, seed, sessionId, systems, task } = parts
  const world = new World({ name: sessionId, seed: hashText(sessionId), systems })
  const agent = world.spawn()
  const put = (token: Component, value: unknown): void => world.core.put(agent, token, fresh(value))
  put(Llm, withoutTools(llm))
  put(Limits, { maxSteps: subagentDefaults.maxSteps })
  put(Ancestry, { sessions: [...above, { kind: 'holder', sessionId }] })
  // A turn of its own may be archived in turn; that is noticed only in an agent that has this.
  put(Archival, archival ?? Archival({ enabled: false }).initial)
  // What a user wrote is no template.
  put(SystemPrompt, { ending: `The turn: ${task}`, template })
  put(Seed, { count: seed.length })
  // What it spends beside its answers is charged to those who ask it.
  world.add(agent, Metered)
  put(AgentTranscript, { lines: seed.length + furtherLines, seq: seed.length })
  // Frozen messages are taken as they are; the list of them is the World's own.
  world.core.put(agent, Conversation, Object.freeze([...seed]) as Json)
  world.core.put(world.spawn(), HostFacts, facts)
  return world
}

const template =
  "You hold one finished turn of another agent's conversation. All that is known of it stands above. Answer questions from " +
  'this history alone: quote names, paths, numbers and texts exactly, and say so plainly if the history does not hold the ' +
  'answer. You have no tools.'

/** A provider's own tools are declared in further fields of its requests. */
function withoutTools({ extra, ...llm }: LlmData): LlmData {
  if (extra === undefined) return llm
  const kept = Object.fromEntries(Object.entries(extra).filter(([field]) => !toolFields.has(field)))
  return Object.keys(kept).length === 0 ? llm : { ...llm, extra: kept }
}

function fresh(value: unknown): Json {
  return canonical(value, () => 'a part of a holder')
}
