import { createHash } from 'node:crypto'
import {
  agent,
  lastText,
  type ModelRequest,
  run,
  scripted,
  standardSystems,
  SubagentRegistry,
  textOf,
  World,
} from 'entia'
import { SubagentSession } from 'entia/components'

// An agent forks itself three times. A fork begins with all that the agent was told and has said, byte for byte, so that
// a provider's prompt cache is paid for once; only what each is to do differs, at the end.

/** What the model was asked, by whom. */
const asked: { readonly who: string; readonly request: ModelRequest }[] = []

// One model for all four: a fork's is its parent's.
const model = scripted((request) => {
  const { messages } = request
  const last = textOf(messages.at(-1))
  const [, directive] = /Directive: (.*)$/.exec(last) ?? []
  asked.push({ who: directive === undefined ? 'parent' : `fork "${directive}"`, request })
  if (directive !== undefined) return `Scope: ${directive} Result: nothing to complain of.`
  if (last.startsWith('Background subagent updates:')) return 'The house can be sold.'
  if (messages.length > 1) return { toolCalls: [{ name: 'subagent_wait', arguments: { mode: 'all' } }] }
  const directives = ['Look at the roof.', 'Look at the cellar.', 'Look at the garden.']
  const forks = directives.map((prompt) => ({ name: 'subagent', arguments: { category: 'fork', prompt } }))
  return { text: 'I look at it from three sides.', toolCalls: forks }
})

const world = new World({ systems: standardSystems() })
const surveyor = world.spawn(
  ...agent({ model: 'script/surveyor', system: 'You know all about houses.', messages: 'Here are the plans: …' }),
  SubagentRegistry({ subagents: {} }),
)
await run(world, { models: { script: model } })

// What the agent's World says: each session has the hash of the request that it shares with its parent.
const sessions = world.query(SubagentSession).map((session) => world.read(session, SubagentSession))
const recorded = new Set(sessions.map(({ prefixHash }) => prefixHash))
console.log(`${sessions.length} forks, prefix hashes in their records: ${recorded.size}`)

// What the model was really asked, since there is something to share: system prompt, tools, and the messages up to the
// one with the three calls.
const sent = new Map<string, string>()
for (const { who, request } of asked.slice(1)) {
  const { system, tools, messages } = request
  const shared = JSON.stringify([system, tools, [...messages].slice(0, 2)])
  sent.set(who, createHash('sha256').update(shared).digest('hex'))
}
console.log(`Asked: ${[...sent.keys()].join(', ')}`)
console.log(`Prefix hashes of what was sent: ${new Set(sent.values()).size}`)

for (const { inlineContent } of sessions) console.log(inlineContent)
console.log(lastText(world, surveyor))

/*
Prints:
3 forks, prefix hashes in their records: 1
Asked: parent, fork "Look at the roof.", fork "Look at the cellar.", fork "Look at the garden."
Prefix hashes of what was sent: 1
Scope: Look at the roof. Result: nothing to complain of.
Scope: Look at the cellar. Result: nothing to complain of.
Scope: Look at the garden. Result: nothing to complain of.
The house can be sold.
*/
