// An agent that calls tools of every restart class, until it is killed or has done. Each run of a handler is a line in
// `ran.txt`. Prints a dot for each thing that happens. Usage: killed-run.ts <folder>
import { appendFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { agent, defineTool, Runner, scripted, sqliteStore, standardSystems, type ToolContext, World } from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

const folder = process.argv[2] ?? ''
const steps = 12

const tools = (['pure', 'keyed', 'once'] as const).map((restart) =>
  defineTool({
    name: restart,
    description: `Works, and is ${restart}.`,
    input: z.object({ step: z.int() }),
    restart,
    run: async ({ step }, { key, sleep }: ToolContext) => {
      appendFileSync(join(folder, 'ran.txt'), `${restart} ${step} ${key}\n`)
      await sleep(2 + ((step * 7) % 11))
      return `done ${step}`
    },
  }),
)
const worker = scripted(
  ({ messages }) => {
    const step = [...messages].filter(({ role }) => role === 'assistant').length
    if (step === steps) return 'All done.'
    return { toolCalls: tools.map(({ declaration: { name } }) => ({ name, arguments: { step } })) }
  },
  { latencyMs: [1, 8] },
)

const store = sqliteStore({ folder })
const runner = await Runner.open({
  ...{ store, name: 'run', models: { worker }, tools, systems: standardSystems(), components },
  create: () => {
    const world = new World({ name: 'run', systems: standardSystems() })
    world.spawn(...agent({ model: 'worker/any', tools, messages: 'Work.' }))
    return world
  },
})
// It is killed before it could leave what was compiled of it, which the next one starts with.
flushCompileCache()
process.stdin.on('end', () => process.exit()).resume()
runner.on('*', () => void process.stdout.write('.'))
await runner.start()
await runner.idle()
await runner.stop()
await store.close()
process.exit()
