import {
  agent,
  lastText,
  Runner,
  scripted,
  standardSystems,
  SubagentRegistry,
  textOf,
  VirtualClock,
  World,
} from 'entia'
import { SubagentWait } from 'entia/components'

// An agent gives three tasks to others, sleeps while they work in the background, and reads what they have found.

const tasks = ['Look into the tides.', 'Look into the winds.', 'Look into the ice.']
const call = (name: string, input: Record<string, string | boolean>) => ({ name, arguments: input })

const lead = scripted(({ messages }) => {
  const steps = messages.filter(({ role }) => role === 'assistant').length
  if (steps === 0) {
    // Answered at once, with the id of a session.
    const task = { category: 'researcher', background: true }
    return { toolCalls: tasks.map((prompt) => call('subagent', { ...task, prompt })) }
  }
  if (steps === 1) return { toolCalls: [call('subagent_wait', { mode: 'all' })] }
  if (steps === 2) {
    // Woken by one message, with a line for each session that has ended.
    const ids = new Set(textOf(messages.at(-1)).match(/session-[0-9a-f]{16}/g))
    return { toolCalls: [...ids].map((id) => call('subagent_result', { session_id: id, read_method: 'summary' })) }
  }
  const results = messages.filter(({ role }) => role === 'tool').slice(-tasks.length)
  return results.map((result) => (JSON.parse(textOf(result)) as { inline_content: string }).inline_content).join(' ')
})

// Takes some minutes. What it says in this form has a summary, so that the lead need not read all of it.
const researcher = scripted(
  ({ messages }) => {
    const topic = textOf(messages.at(0)).slice('Look into '.length, -1)
    const report = `<summary>All is well with ${topic}.</summary><full_result>Much about ${topic} …</full_result>`
    return `<subagent_background_result>${report}</subagent_background_result>`
  },
  { latencyMs: [60_000, 600_000] },
)

const world = new World({ systems: standardSystems() })
const subagents = { researcher: { name: 'researcher', model: 'researcher/any', description: 'Looks into things.' } }
const captain = world.spawn(
  ...agent({ model: 'lead/any', messages: 'Can we sail?' }),
  // An agent that has a registry gets the tools to delegate with.
  SubagentRegistry({ subagents }),
)

const runner = new Runner(world, { models: { lead, researcher }, clock: new VirtualClock() })
const say = (what: string) => console.log(`after ${(world.nowMs / 60_000).toFixed(1)} minutes: ${what}`)
const leadCalls = { awake: 0, asleep: 0 }
runner.on('delegation-started', ({ task }) => say(`"${task}" begins`))
runner.on('delegation-completed', ({ task, lifecycleStatus }) => say(`"${task}" has ${lifecycleStatus}`))
runner.on('model-called', ({ path, step }) => {
  // Events of sessions have a path; those of the lead's own world have none.
  if (path !== undefined) return
  say(`the lead thinks, step ${step}`)
  // To sleep is data, too: a component of the agent.
  leadCalls[world.has(captain, SubagentWait) ? 'asleep' : 'awake']++
})
await runner.start()
await runner.idle()
await runner.stop()

console.log(lastText(world, captain))
console.log(`Model calls of the lead: ${leadCalls.awake}, and ${leadCalls.asleep} while it slept`)

/*
Prints:
after 0.0 minutes: the lead thinks, step 1
after 0.0 minutes: "Look into the tides." begins
after 0.0 minutes: "Look into the winds." begins
after 0.0 minutes: "Look into the ice." begins
after 0.0 minutes: the lead thinks, step 2
after 4.9 minutes: "Look into the ice." has succeeded
after 8.1 minutes: "Look into the winds." has succeeded
after 9.6 minutes: "Look into the tides." has succeeded
after 9.6 minutes: the lead thinks, step 3
after 9.6 minutes: the lead thinks, step 4
All is well with the ice. All is well with the winds. All is well with the tides.
Model calls of the lead: 4, and 0 while it slept
*/
