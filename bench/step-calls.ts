import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agent, Runner, standardSystems, World } from 'entia'
import { fakeModel, lookUpTool, provider } from './bare-loop.ts'
import { times } from './measure.ts'
import type { Row } from './row.ts'

/** How often a function of the framework is called in a step, on average. */
export interface CalledFunction {
  /** From the root of the repository. */
  readonly file: string
  readonly name: string
  readonly calls: number
}

const root = `${import.meta.dirname}/..`
const turns = 20

/**
 * Function calls of the framework itself in a step, which is a model call and the call of a tool. Unlike time, they are the same
 * on every machine, whatever else it does: the limits are a few percent above what is there.
 */
export async function measure(): Promise<Row[]> {
  return [await row(50, 905), await row(1, 900)]
}

async function row(callsPerTurn: number, limit: number): Promise<Row> {
  const functions = await callsOfStep(callsPerTurn)
  const value = functions.reduce((sum, { calls }) => sum + calls, 0)
  const name = `function calls a step, in turns of ${callsPerTurn + 1} steps`
  return { name, value, unit: 'calls', limit, against: `of ${functions.length} functions` }
}

/** The functions that a step calls, most called first; those of packages and of Node are not among them. */
export async function callsOfStep(callsPerTurn: number): Promise<CalledFunction[]> {
  let steps = 0
  const think = fakeModel(callsPerTurn)
  const model = provider((messages) => {
    steps++
    return think(messages)
  })
  const world = new World({ systems: standardSystems() })
  const limits = { maxSteps: callsPerTurn + 1, maxToolCalls: callsPerTurn }
  const speaker = world.spawn(...agent({ model: 'fake/model', tools: [lookUpTool], ...limits }))
  const runner = new Runner(world, { models: { fake: model }, tools: [lookUpTool] })
  await runner.start()
  const turn = async (): Promise<void> => {
    await runner.message(speaker, 'Go.')
    await runner.idle()
  }
  await times(turns, turn)
  steps = 0
  const functions = await functionsCalled(() => times(turns, turn))
  await runner.stop()
  return functions
    .map(({ calls, ...called }) => ({ ...called, calls: calls / steps }))
    .sort((a, b) => b.calls - a.calls)
}

/** By V8's coverage, which counts calls exactly. */
async function functionsCalled(work: () => Promise<void>): Promise<CalledFunction[]> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  const own = result
    .filter(({ url }) => url.startsWith('file:'))
    .map(({ functions, url }) => ({ file: relative(root, fileURLToPath(url)), functions }))
    .filter(({ file }) => /^(src|components|systems)\//.test(file))
  const called = own.flatMap(({ file, functions }) =>
    functions.map(({ functionName, ranges: [whole] }) => ({
      file,
      name: functionName === '' ? '(anonymous)' : functionName,
      calls: whole?.count ?? 0,
    })),
  )
  return called.filter(({ calls }) => calls > 0)
}
