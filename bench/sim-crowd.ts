import { agent, defineTool, memoryStore, scripted, standardSystems, World } from 'entia'
import { simulate } from 'entia/sim'
import { z } from 'zod'
import type { Row } from './row.ts'

const agents = 10_000
const steps = 100

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({}),
  restart: 'pure',
  run: () => 'nothing',
})

const script = scripted(
  ({ messages }) => (messages.length >= 2 * steps - 1 ? 'Done.' : { toolCalls: [{ name: 'look' }] }),
  { stream: false, latencyMs: 1_000 },
)

function world(seed: number): World {
  const made = new World({ name: 'crowd', seed, systems: standardSystems() })
  const limits = { maxSteps: 2 * steps, maxToolCalls: 2 * steps }
  for (let count = 0; count < agents; count++) {
    made.spawn(...agent({ model: 'script/x', messages: 'Go.', tools: [look], ...limits }))
  }
  return made
}

/** Many agents in one simulated world, laws on, each tick in a journal, the trace given away line by line. */
export async function measure(): Promise<Row[]> {
  let lines = 0
  let peakBytes = 0
  const weighing = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  }, 50)
  const begin = performance.now()
  const { ok, violation } = await simulate({
    world,
    models: { script },
    tools: [look],
    store: () => memoryStore(),
    maxInFlight: agents,
    latencyMs: { tool: [100, 100] },
    bounds: { maxTicks: Infinity },
    onTrace: () => lines++,
  })
  const seconds = (performance.now() - begin) / 1_000
  clearInterval(weighing)
  if (!ok) throw new Error(violation?.message)
  const name = `${agents.toLocaleString('en')} agents in one simulated world, ${steps} steps each, laws on, with a journal`
  return [
    { name, value: seconds, unit: 's', limit: 120, against: `${lines.toLocaleString('en')} lines of trace` },
    { name: 'memory of the process meanwhile, at its highest', value: peakBytes / 1e9, unit: 'GB', limit: 2 },
  ]
}
