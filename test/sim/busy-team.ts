import {
  agent,
  declare,
  defineTool,
  type ModelRequest,
  type ScriptedReply,
  scripted,
  standardSystems,
  SubagentRegistry,
  type System,
  textOf,
  World,
} from 'entia'
import { ToolRegistry } from 'entia/components'
import { querySubagentDeclaration } from 'entia/systems'
import { z } from 'zod'
import { type FaultRates, simulatedUser, type SimulateOptions } from '../../src/sim/index.ts'

const at = z.object({ at: z.string() })

const tools = [
  defineTool({
    name: 'look',
    description: 'Looks somewhere.',
    input: at,
    restart: 'pure',
    run: ({ at: place }) => `nothing at ${place}`,
  }),
  defineTool({ name: 'store', description: 'Puts a thing away.', input: at, restart: 'keyed', run: () => 'put away' }),
  defineTool({ name: 'send', description: 'Sends a letter.', input: at, restart: 'once', run: () => 'sent' }),
  defineTool({
    name: 'buy',
    description: 'Spends money.',
    input: at,
    restart: 'once',
    approval: true,
    run: () => 'bought',
  }),
]

function call(name: string, place: string) {
  return { name, arguments: { at: place } }
}

function delegate(category: string, prompt: string, background = true) {
  return { name: 'subagent', arguments: { category, prompt, background } }
}

function calls(...toolCalls: readonly object[]): ScriptedReply {
  return { toolCalls: toolCalls as never }
}

/** What each agent does, by how often it has spoken. */
const scripts: Readonly<Record<string, (task: string) => readonly ScriptedReply[]>> = {
  lead: () => [
    calls(delegate('scout', 'alpha'), delegate('digger', 'beta'), delegate('fork', 'think'), call('look', 'home')),
    calls(
      call('send', 'north'),
      call('buy', 'a map'),
      call('look', 'south'),
      call('store', 'the map'),
      call('send', 'x'),
    ),
    calls({ name: 'subagent_wait', arguments: { mode: 'any' } }),
    calls(delegate('scout', 'gamma', false), call('look', 'east')),
    calls({ name: 'subagent_wait', arguments: { mode: 'all' } }),
    calls(
      { name: 'subagent_result', arguments: { session_id: '1', read_method: 'summary' } },
      { name: 'query_subagent', arguments: { id: '1', prompt: 'Sure?' } },
      { name: 'subagent_resume', arguments: { session_id: '2' } },
    ),
    'The end.',
  ],
  // What it shares with the lead was said by the lead.
  fork: () => ['', calls(call('look', 'inward'), call('send', 'a thought')), 'Thought.'],
  digger: () => [
    calls(delegate('scout', 'delta', false), call('store', 'a spade')),
    calls(call('send', 'down')),
    'Dug.',
  ],
  scout: (task) => [
    calls(call('look', task), call('look', `${task} again`)),
    calls(call('send', task)),
    `Seen ${task}.`,
  ],
}

function behaviour(model: string) {
  return ({ messages }: ModelRequest): ScriptedReply => {
    const all = [...messages]
    const spoken = all.filter(({ role }) => role === 'assistant').length
    const isFork = all.some((message) => message.role === 'user' && textOf(message).includes('think'))
    return scripts[isFork ? 'fork' : model]?.(textOf(all[0]))[spoken] ?? 'Nothing more.'
  }
}

const retry = {
  maxAttempts: 4,
  firstDelayMs: 500,
  maxDelayMs: 4_000,
  kinds: ['rate-limited', 'overloaded', 'truncated'] as const,
}

/**
 * A lead with tools of every restart class, approvals, sessions of every kind, and a user who has one more thing to say
 * when all is done.
 *
 * @param systems of all its worlds
 */
export function busyTeam(systems: readonly System[] = standardSystems()): SimulateOptions {
  const subagents = {
    digger: {
      name: 'digger',
      model: 'digger/x',
      tools: ['store', 'send'],
      inheritancePolicy: { inheritTools: ['subagent'] },
    },
    scout: { name: 'scout', model: 'scout/x', tools: ['look', 'send'], systemPrompt: 'You have ${_installed_tools}.' },
  }
  return {
    tools,
    models: {
      lead: scripted(behaviour('lead'), { retry: { ...retry, kinds: [...retry.kinds] } }),
      digger: scripted(behaviour('digger'), { retry: { ...retry, kinds: [...retry.kinds] } }),
      scout: scripted(behaviour('scout'), { retry: { ...retry, kinds: [...retry.kinds] } }),
    },
    users: {
      owner: simulatedUser((seen) => {
        if (seen.type === 'approval-requested') return { approve: 'agent' in seen }
        if (seen.type !== 'turn-ended' || 'path' in seen) return undefined
        return Number('toolCalls' in seen && seen.toolCalls) > 3 ? { say: 'One more thing.' } : undefined
      }),
    },
    maxSessions: 2,
    world(seed) {
      const world = new World({ name: 'team', seed, systems })
      const system = 'Lead. Tools: ${_installed_tools}. Subagents: ${_installed_subagents}.'
      const declared = ToolRegistry({ tools: [...declare(...tools), querySubagentDeclaration] })
      world.spawn(...agent({ model: 'lead/x', messages: 'Go', system }), declared, SubagentRegistry({ subagents }))
      return world
    },
  }
}

/** All kinds of faults, each now and then. */
export const allFaults = {
  model: {
    rateLimited: 0.04,
    rateLimitedFor: 0.03,
    overloaded: 0.03,
    truncated: 0.03,
    hang: 0.01,
    malformedToolCall: 0.03,
    unknownTool: 0.03,
    emptyReply: 0.02,
    refused: 0.01,
    contextOverflow: 0.01,
  },
  tool: { throws: 0.05, throwsLate: 0.03, hang: 0.01, slow: 0.03, oversized: 0.005, invalid: 0.02 },
  delivery: { duplicated: 0.05, late: 0.03, reordered: 0.05 },
  store: { fails: 0.02, full: 0.005, torn: 0.01 },
  crash: { perTick: 0.03, child: 0.01 },
  users: { message: 0.04, cancel: 0.015, approval: 0.05 },
} satisfies FaultRates
