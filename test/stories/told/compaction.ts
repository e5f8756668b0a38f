import {
  Conversation,
  defineTool,
  type Entity,
  fail,
  type ModelRequest,
  scripted,
  type ScriptedReply,
  textOf,
} from 'entia'
import { Boundary, Overflowed, ToolRegistry } from 'entia/components'
import { Context } from 'entia/context'
import { project, standardRetry } from 'entia/models'
import { law, simulatedUser, setIn, standardLaws } from 'entia/sim'
import { z } from 'zod'
import { calls } from './spoken.ts'
import { teamStory } from './team.ts'

/** Characters stand for tokens. */
const contextWindow = 5_000
/**
 * Users go on for so long. Where outcomes arrive together, turns take fewer ticks, so more of them begin by then: such a run is
 * longer, with fewer ticks for each outcome.
 */
const maxTick = 9

const dig = defineTool({
  name: 'dig',
  description: 'Digs up a lot of text.',
  input: z.object({ chars: z.number() }),
  restart: 'pure',
  run: ({ chars }) => 'ab '.repeat(chars / 3),
})

const publish = defineTool({
  name: 'publish',
  description: 'Publishes something, if somebody agrees.',
  input: z.object({ what: z.string() }),
  restart: 'once',
  approval: true,
  approvalTimeoutMs: 60_000,
  run: ({ what }) => `published: ${what}`,
})

const scout = { name: 'scout', model: 'scout/x', tools: ['look'] }

/** How much of the window a request takes. */
function sizeOf({ messages, tail }: Pick<ModelRequest, 'messages' | 'tail'>): number {
  let size = 0
  for (const message of [...messages, ...tail]) size += JSON.stringify(message.content).length
  return size
}

/** Steps since the last message from outside; what a boundary stands for is not counted. */
function stepsOf({ messages }: ModelRequest): number {
  let steps = 0
  for (const { role } of messages) {
    if (role === 'user' || role === 'system') steps = 0
    else if (role === 'assistant') steps++
  }
  return steps
}

/** Texts about a conversation: some fail, some are empty, some are cut off; most are short. */
function summaryOf({ system, messages }: ModelRequest, attempt: number): ScriptedReply {
  const asked = textOf(messages.at(-1))
  switch ((asked.length + attempt) % 11) {
    case 0:
      return fail('refused')
    case 1:
      return { text: ' ' }
    case 2:
      return { text: '# Current state\nIn the midst of', stop: 'max-tokens' }
    default:
      return `# ${system.startsWith('You keep') ? 'Task' : 'Current state'}\nAbout ${asked.length} characters.`
  }
}

/** What the keeper does in a turn, by what it was told last and how far it is. */
function stepOf(request: ModelRequest): ScriptedReply {
  const task = textOf(request.messages.findLast(({ role }) => role === 'user'))
  const kind = task.length % 5
  switch (stepsOf(request)) {
    case 0:
      return calls(['dig', { chars: 450 * (1 + kind) }], ['look', { at: task.slice(0, 20) }])
    case 1:
      return kind < 2
        ? calls([
            'subagent',
            { category: task.length % 20 === 0 ? 'fork' : 'scout', prompt: task.slice(0, 20), background: true },
          ])
        : calls(['dig', { chars: 900 }], ['publish', { what: task.slice(0, 20) }])
    case 2:
      return kind === 1
        ? calls(['mark_task_done', { detail: `Dug for ${task.slice(0, 20)}.` }])
        : calls(['dig', { chars: 300 }], ['subagent_status', {}])
    case 3:
      return kind === 3 ? calls(['subagent_wait', { mode: 'all', timeout: 20 }]) : 'Dug enough.'
    default:
      return 'Dug enough.'
  }
}

/** A request that is longer than the window is turned away by whoever gets it. */
function within(request: ModelRequest, reply: () => ScriptedReply): ScriptedReply {
  return sizeOf(request) > contextWindow ? fail('context-overflow') : reply()
}

function isAboutIt({ system }: ModelRequest): boolean {
  return system.startsWith('You write handovers') || system.startsWith('You keep records')
}

const usage = (request: ModelRequest) => ({ input: sizeOf(request), output: 20 })

const shorterThanTheWindow = law(
  'what is asked once more after an overflow fits into the window',
  ({ step, world }) => {
    for (const event of step.events) {
      if (event.type !== 'model-called') continue
      const agent = event['agent'] as Entity
      if (!world.has(agent, Overflowed)) continue
      const size = sizeOf(project(world, agent, event['messages'] as number))
      if (size > contextWindow) return `agent ${agent} asks with ${size} of ${contextWindow} once more`
    }
    return undefined
  },
)

const nothingForgotten = law('no message leaves a conversation', ({ step, world }) => {
  const { set, spliced } = step.delta
  for (const [agent, edits] of spliced?.[Conversation.name] ?? []) {
    if (edits.some(([, deleteCount]) => deleteCount > 0)) return `agent ${agent} has lost messages`
  }
  return set?.[Conversation.name] === undefined || world.tick <= 1
})

const boundariesPartNothing = law('a boundary parts no call from its result', (tick) => {
  const { step, world } = tick
  const written = [...(step.delta.appended?.[Boundary.name] ?? []), ...setIn(tick, Boundary as never)]
  for (const [agent] of written as readonly (readonly [Entity, unknown])[]) {
    const entries = world.get(agent, Boundary) ?? []
    const [before, newest] = [entries.at(-2)?.seq ?? 0, entries.at(-1)?.seq ?? 0]
    if (newest <= before) return `the boundary of agent ${agent} at ${newest} covers nothing new`
    const messages = world.read(agent, Conversation)
    const [last, next] = [messages[newest - 1], messages[newest]]
    if (last === undefined || next?.role === 'tool')
      return `agent ${agent}: message ${newest} is parted from its results`
    const isOpen = last.role === 'assistant' && last.content.some(({ type }) => type === 'tool-call')
    if (isOpen) return `agent ${agent}: the calls of message ${newest} are parted from their results`
  }
  return undefined
})

const story = teamStory({
  name: 'keeper',
  subagents: { scout },
  maxSessions: 2,
  maxSteps: 8,
  tools: [dig, publish],
  parts: [Context({ compaction: { threshold: 0.5, midTurn: 0.7, maxOutputTokens: 200, timeoutMs: 20_000 } })],
  prices: {
    'lead/x': { contextWindow, input: 1, output: 1 },
    'scout/x': { contextWindow: 100_000, input: 1, output: 1 },
  },
  models: {
    lead: scripted(
      (request, { attempt }) =>
        within(request, () => (isAboutIt(request) ? summaryOf(request, attempt) : stepOf(request))),
      { retry: standardRetry, usage },
    ),
    scout: scripted((request) => (stepsOf(request) < 2 ? calls(['look', {}]) : 'Seen.'), { usage }),
  },
  users: {
    owner: simulatedUser((seen) => {
      if ('path' in seen || !('tick' in seen) || seen.tick > maxTick) return undefined
      if (seen.type === 'approval-requested') return { approve: seen.tick % 3 > 0 }
      if (seen.type === 'turn-ended') {
        const next = { say: `Task ${'x'.repeat(seen.tick % 7)} of tick ${seen.tick}`, to: 1 }
        if (seen.tick % 7 === 0) return [{ compact: 1, focus: `tick ${seen.tick}` }, next]
        return seen.tick % 5 === 0 ? [{ checkpoint: 1, note: `tick ${seen.tick}` }, next] : next
      }
      if (seen.type === 'summary-started' && seen.tick % 5 === 0) return { say: `And ${seen.tick}?`, to: 1 }
      return seen.type === 'tool-called' && seen.tick % 9 === 0 ? { say: `Mind ${seen.tick}.`, to: 1 } : undefined
    }),
  },
})

/**
 * An agent with a small window and much to read, whose owner has one task after the other: its conversation is compacted
 * again and again, at the end of turns, in their midst, when the window has run over and when its owner asks; tasks are
 * closed; and not every summary comes to something.
 */
export default {
  ...story,
  world(seed: number) {
    const world = story.world(seed)
    world.patch(1, ToolRegistry, {
      tools: [...world.read(1, ToolRegistry).tools, dig.declaration, publish.declaration],
    })
    return world
  },
  laws: [...standardLaws, shorterThanTheWindow, nothingForgotten, boundariesPartNothing],
}
