import { agent, run, standardSystems, World } from 'entia'
import * as components from 'entia/components'
import { conversation, fakeModel, lookUpTool, provider } from './bare-loop.ts'
import { compare, median, ratio, type Sides } from './measure.ts'
import { readable, type Row } from './row.ts'

const agents = 1_000
const messages = 50

/** A world saved and restored, over JSON alone of the same data. */
export async function measure(): Promise<Row[]> {
  const world = new World({ systems: standardSystems() })
  const said = conversation(messages - 2)
  for (let made = 0; made < agents; made++) {
    const heard = [...structuredClone(said), { role: 'user', content: [{ type: 'text', text: 'Go.' }] } as const]
    world.spawn(...agent({ model: 'fake/model', tools: [lookUpTool], messages: heard }))
  }
  await run(world, { models: { fake: provider(fakeModel(0)) }, tools: [lookUpTool] })

  const lines = [...world.snapshot()]
  const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0)
  const data = lines.map((line) => JSON.parse(line) as unknown)
  const text = JSON.stringify(data)
  const counts = { rounds: 9, warmUp: 3 }
  const { wallMs: saved } = await compare({
    ...counts,
    work: () => [...world.snapshot()],
    against: () => JSON.stringify(data),
  })
  const { wallMs: restored } = await compare({
    ...counts,
    work: () => World.restore(lines, { systems: standardSystems(), components }),
    against: () => JSON.parse(text) as unknown,
  })
  const what = '1,000 agents × 50 messages'
  return [
    ...rowsOf(`snapshot of ${what}`, saved, 'JSON.stringify', bytes),
    ...rowsOf(`validated restore of ${what}`, restored, 'JSON.parse', bytes),
  ]
}

function rowsOf(name: string, taken: Sides, bare: string, bytes: number): Row[] {
  const speed = (times: readonly number[]): number => bytes / median(times) / 1_000
  return [
    {
      name: `${name}, time over ${bare}`,
      value: ratio(taken),
      unit: '×',
      limit: 5,
      against: `${bare} ${readable(median(taken.against))} ms`,
    },
    { name, value: speed(taken.work), unit: 'MB/s', against: `${bare} ${readable(speed(taken.against))} MB/s` },
  ]
}
