import { fail, type ModelRequest, scripted, type ScriptedReply, type System, textOf } from 'entia'
import { Archival, Context } from 'entia/components'
import { simulatedUser, type SimulateOptions } from 'entia/sim'
import { calls } from './spoken.ts'
import { teamStory } from './team.ts'

/** What there is to say to the keeper, one thing after the other. */
const words = ['dig east', 'dig west', 'ask', 'dig deep', 'delegate', 'ask', 'recall', 'dig north']
/** So many turns anybody bothers to speak about. */
const maxTick = 22

const good = JSON.stringify({
  outcome: 'It was dug.',
  key_findings: ['a tree'],
  files_touched: [],
  tools_used: ['look'],
  open_questions: [],
})

/** Summaries fail in every way: no form, no text, no reply. */
function summarize({ messages }: ModelRequest): ScriptedReply {
  const all = [...messages]
  const isRepair = all.length > 1
  switch (textOf(all[0]).length % 6) {
    case 0:
      return isRepair ? good : 'It was dug.'
    case 1:
      return isRepair ? 'It was dug, as I said.' : 'It was dug.'
    case 2:
      return ''
    case 3:
      return fail('refused')
    case 4:
      return isRepair ? fail('refused') : '{}'
    default:
      return good
  }
}

/** A holder says much, so that what it was asked is archived in turn. */
function hold({ messages }: ModelRequest): ScriptedReply {
  const question = textOf([...messages].findLast(({ role }) => role === 'user'))
  return `About ${question}: ${'there was a tree. '.repeat(40)}`
}

/** The last thing said, and how often the keeper has spoken since. */
function sinceThen({ messages }: ModelRequest): { readonly said: string; readonly spoken: number } {
  const all = [...messages]
  const from = all.findLastIndex(({ role }) => role === 'user')
  return { said: textOf(all[from]), spoken: all.slice(from).filter(({ role }) => role === 'assistant').length }
}

function work(request: ModelRequest): ScriptedReply {
  const { said, spoken } = sinceThen(request)
  const ids = request.tail.flatMap((message) =>
    [...textOf(message).matchAll(/^- id: (\S+)/gm)].map(([, id = '']) => id),
  )
  const [oldest] = ids
  const newest = ids.at(-1)
  if (spoken > 1) return `Done with ${said}.`
  if (said.startsWith('dig')) return calls(['look', { at: said }], ['look', { at: `${spoken}` }])
  if (spoken > 0) return `Done with ${said}.`
  if (said === 'ask' && oldest !== undefined && newest !== undefined) {
    return calls(
      ['query_subagent', { id: oldest, prompt: 'what?' }],
      ['query_subagent', { id: newest, prompt: 'why?' }],
    )
  }
  if (said === 'delegate') return calls(['spawn_subagent', { task: 'dig there', tools: ['look'] }])
  return said === 'recall' ? calls(['recall', { query: 'tree west' }]) : 'Nothing to do.'
}

/**
 * One agent whose finished turns are archived, their questions in turn too, while it goes on, delegates, and is compacted.
 */
export function archivalStory(systems?: readonly System[]): SimulateOptions {
  return teamStory({
    name: 'archive',
    ...(systems !== undefined && { systems }),
    subagents: {},
    models: {
      lead: scripted(
        (request) => {
          if (textOf(request.messages.at(0)).startsWith('Summarize the following')) return summarize(request)
          return request.system.startsWith('You hold') ? hold(request) : work(request)
        },
        { usage: ({ messages }) => ({ input: Math.ceil(JSON.stringify([...messages]).length / 4), output: 10 }) },
      ),
    },
    // So small a window that the conversation is compacted as well.
    prices: { 'lead/x': { input: 1, output: 1, contextWindow: 3_000 } },
    parts: [
      Context({ compaction: { threshold: 0.3 } }),
      Archival({
        enabled: true,
        summary: { timeoutMs: 20_000 },
        trigger: { depthCap: 2, tokenThreshold: 150, toolCallThreshold: 3 },
      }),
    ],
    users: {
      ann: simulatedUser((seen) => {
        if (seen.type !== 'turn-ended' || seen.tick > maxTick) return undefined
        return { say: words[seen.tick % words.length] ?? 'dig east' }
      }),
    },
  })
}

export default archivalStory()
