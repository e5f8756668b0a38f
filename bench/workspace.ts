import { agent, World } from 'entia'
import { Boundary, Retrieval, WorkspaceEntry, WorkspaceState } from 'entia/components'
import { reception, tick } from 'entia/systems'
import { compare, median } from './measure.ts'
import { readable, type Row } from './row.ts'

const kept = 5_000
const prompt =
  'Why does the parser of module 4711 fail at the end of a file, and which test of it is the one that shows so?'

/** A summary of all that the agent has done. */
const covering = {
  seq: 1_000_000_000,
  kind: 'summary',
  by: 'manual',
  text: 'Well.',
  atMs: 0,
  missingHeadings: [],
  truncated: false,
  usage: { input: 1, output: 1 },
} as const

/** The start of a turn of an agent that keeps many results, of which its model sees none. */
export async function measure(): Promise<Row[]> {
  const [many, none] = [workspaceOf(kept), workspaceOf(0)]
  const { wallMs } = await compare({ rounds: 61, warmUp: 20, work: () => say(many), against: () => say(none) })
  const fresh = workspaceOf(kept, false)
  const first = performance.now()
  say(fresh)
  const firstMs = performance.now() - first
  return [
    {
      name: `the start of a turn over ${kept.toLocaleString('en')} kept results, wall time`,
      value: median(wallMs.work),
      unit: 'ms',
      limit: 5,
      against: `over none: ${readable(median(wallMs.against))} ms; all of them new: ${readable(firstMs)} ms`,
    },
  ]
}

function say(world: World): void {
  const [asked = 0] = world.entitiesWith(Retrieval)
  const content = [{ type: 'text' as const, text: prompt }]
  tick(world, [{ kind: 'message', agent: asked, message: { role: 'user', content } }])
}

/** No turn is opened in it, so each message begins one. */
function workspaceOf(count: number, isCompared = true): World {
  const world = new World({ systems: [reception] })
  const asked = world.spawn(...agent({ model: 'fake/model' }), Retrieval({}))
  world.append(asked, Boundary, covering)
  world.set(asked, WorkspaceState, { newest: count, compared: isCompared ? count : 0, turns: 1 })
  for (let number = 1; number <= count; number++) {
    const path = `src/module-${number % 500}/file-${number}.ts`
    const changedMs = number
    world.set(world.spawn(), WorkspaceEntry, {
      agent: asked,
      number,
      key: `file:${path}`,
      origin: `read_file {"path":"${path}","offset":${number}}`,
      asked: number,
      type: number % 7 === 0 ? 'table' : 'text',
      handles: [number],
      ...(number > 1 && { deps: [number - 1] }),
      files: [{ path: `/${path}`, sizeBytes: number, changedMs }],
      sizeBytes: 100,
      text: `Line of the file ${number}.\n`.repeat(40),
      seq: number,
      turn: 1,
      atMs: number,
      isPinned: true,
    })
  }
  return world
}
