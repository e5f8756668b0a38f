import { z } from 'zod'
import {
  agent,
  defineTool,
  type Runner as RunnerOf,
  Runner,
  scripted,
  standardSystems,
  type Store,
  World,
} from '../../../src/index.ts'
import type { Action, ActionReply, WorldsReply } from '../../../src/inspector/reading/wire.ts'

/** How often `look` has really run, by place. */
export const looked: string[] = []

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.string() }),
  restart: 'pure',
  run: ({ at }) => {
    looked.push(at)
    return `${at} is there`
  },
})

/** Looks at so many places, and says what it was asked. */
const walker = (steps: number) =>
  scripted((request) => {
    const [first] = request.messages
    const asked =
      first?.role === 'user' ? first.content.map((part) => (part.type === 'text' ? part.text : '')).join('') : ''
    const seen = request.messages.length
    if (seen >= 2 * steps) return `All seen. I was asked: ${asked}`
    return { toolCalls: [{ name: 'look', arguments: { at: `${asked} ${seen}` } }] }
  })

/** A finished run of an agent that walks in small steps. */
export async function finishedRun(name: string, steps: number, store: Store): Promise<RunnerOf> {
  const world = new World({ name, seed: 3, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'script/x', tools: [look], messages: 'north', maxSteps: steps + 2, maxToolCalls: 3 * steps }),
  )
  const runner = new Runner(world, { models: { script: walker(steps) }, tools: [look], store, record: true })
  await runner.start()
  await runner.idle()
  return runner
}

/** Talks to a served inspector as its page does. */
export function client(url: string) {
  const at = new URL(url)
  const token = new URLSearchParams(at.hash.slice(1)).get('token') ?? ''
  const ask = async (
    route: string,
    init: { readonly method?: string; readonly body?: string } = {},
  ): Promise<Response> =>
    fetch(new URL(`api/${route}`, at.origin), {
      ...init,
      headers: { Authorization: `Bearer ${token}` },
    })
  return {
    ask,
    act: async (action: Action): Promise<ActionReply & { readonly message?: string }> =>
      (await (await ask('act', { method: 'POST', body: JSON.stringify(action) })).json()) as ActionReply,
    worlds: async () => ((await (await ask('worlds')).json()) as WorldsReply).worlds,
  }
}
