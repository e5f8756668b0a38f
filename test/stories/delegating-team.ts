import {
  agent,
  defineTool,
  type EventPlace,
  fail,
  type ModelRequest,
  Runner,
  type ScriptedReply,
  scripted,
  SessionPool,
  standardSystems,
  type Store,
  SubagentRegistry,
  textOf,
  VirtualClock,
  World,
} from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'
import { placeOf } from './kept-worlds.ts'

/** Of the lead's world. */
export const name = 'story'
const systems = standardSystems()

/** What happened outside the worlds, where nothing can be taken back. */
export interface Outside {
  readonly sent: string[]
  /** Where the events stand that listeners were told. */
  readonly heard: Set<string>
}

const look = defineTool({
  name: 'look',
  description: 'Looks around.',
  input: z.object({}),
  restart: 'pure',
  run: async (_, { sleep }) => {
    await sleep(10)
    return 'a tree'
  },
})

function send(outside: Outside) {
  return defineTool({
    name: 'send',
    description: 'Sends a letter.',
    input: z.object({ letter: z.string() }),
    restart: 'once',
    run: async ({ letter }, { sleep }) => {
      outside.sent.push(letter)
      await sleep(15)
      return 'sent'
    },
  })
}

function delegate(category: string, prompt: string, background = false) {
  return { name: 'subagent', arguments: { category, prompt, background } }
}

function read(session: number, method: 'full' | 'summary') {
  return { name: 'subagent_result', arguments: { session_id: `${session}`, read_method: method } }
}

function wait(mode: 'any' | 'all', ...sessions: readonly string[]) {
  return { name: 'subagent_wait', arguments: { mode, session_ids: sessions } }
}

function calls(...toolCalls: readonly { readonly name: string; readonly arguments: object }[]): ScriptedReply {
  return { toolCalls: toolCalls as never }
}

/** What each agent does, by how often it has spoken. */
const scripts: Readonly<Record<string, (task: string) => readonly ScriptedReply[]>> = {
  lead: () => [
    calls(delegate('scout', 'alpha', true), delegate('digger', 'beta', true)),
    calls(wait('any', '1')),
    calls(delegate('scout', 'epsilon')),
    'The rest is under way.',
    calls(read(1, 'full'), read(2, 'summary')),
    'The end.',
  ],
  digger: () => [
    calls(delegate('scout', 'gamma')),
    calls(delegate('scout', 'delta, and write', true), wait('all')),
    calls(read(2, 'full')),
    '<subagent_background_result><summary>Dug.</summary><full_result>Dug deep.</full_result></subagent_background_result>',
  ],
  scout: (task) => {
    const letter = { name: 'send', arguments: { letter: task } }
    const found = `Found ${task}.`
    if (task === 'alpha') return [fail('refused', { message: 'boom' })]
    return task.endsWith('write') ? [calls({ name: 'look', arguments: {} }, letter), found] : [found]
  },
}

function behaviour(model: string, latencyMs: number) {
  const reply = ({ messages }: ModelRequest): ScriptedReply => {
    const all = [...messages]
    const spoken = all.filter(({ role }) => role === 'assistant').length
    return scripts[model]?.(textOf(all[0]))[spoken] ?? 'Nothing more.'
  }
  return scripted(reply, { latencyMs })
}

/** Who is further below takes longer, so that a restart changes no order. */
const models = { lead: behaviour('lead', 5), digger: behaviour('digger', 12), scout: behaviour('scout', 20) }

function makeWorld(): World {
  const world = new World({ name, seed: 1, systems })
  const scout = { name: 'scout', model: 'scout/x', tools: ['look', 'send'] }
  const digger = { name: 'digger', model: 'digger/x', inheritancePolicy: { inheritTools: ['subagent'] } }
  world.spawn(...agent({ model: 'lead/x', messages: 'Go' }), SubagentRegistry({ subagents: { digger, scout } }))
  return world
}

/** A Runner for the lead's world as that store has it, or made anew; in a process of its own. */
export async function startRunner(store: Store, outside: Outside): Promise<{ runner: Runner; clock: VirtualClock }> {
  const clock = new VirtualClock()
  const runner = await Runner.open({
    store,
    name,
    systems,
    components,
    create: makeWorld,
    models,
    tools: [look, send(outside)],
    sessionPool: new SessionPool({ cap: 1 }),
    clock,
  })
  runner.on('*', (event) => {
    if ('tick' in event) outside.heard.add(placeOf(event as EventPlace))
  })
  return { runner, clock }
}
