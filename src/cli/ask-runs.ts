import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import * as standardComponents from '../../components/index.ts'
import { ActiveFor } from '../../components/sessions/subagent-session.ts'
import { Turn } from '../../components/agent/turn.ts'
import type { Config } from '../doors/context.ts'
import {
  EntiaError,
  type Entity,
  fileTools,
  LastTurn,
  Llm,
  type OpenRunnerOptions,
  Runner,
  SessionPool,
  standardSystems,
  type Store,
  type Tool,
  World,
} from '../index.ts'
import { pacedTool, type Question, readerModel } from '../../examples/reader/reader.ts'
import { scriptedModel } from './choose-model.ts'
import { Folder, leadParts, restoring } from './lead.ts'

/** Other processes may take a number first; gives up after this many. */
const maxTries = 100
/** With scripts few researchers work at once, so that the queue is visible. */
const scriptedCap = 2

/** A question to a lead, in its own world; its researchers have worlds below it. */
export interface AskRun {
  readonly name: string
  readonly world: World
  readonly agent: Entity
}

export interface OpenRun extends AskRun {
  readonly runner: Runner
}

export interface RunOptions {
  readonly store: Store
  readonly isPaced: boolean
  /** All ticks are kept. */
  readonly record: boolean
  /** A resumed run takes only the prices from it. */
  readonly config: Config
}

/** @throws `invalid-argument` if the folder does not exist or is a file */
export async function newRun(
  { folder, model, ...question }: Question & { readonly folder: string; readonly model: string },
  options: RunOptions,
): Promise<OpenRun> {
  const path = resolve(folder)
  const tools = toolsIn(path)
  const [newest = 0] = (await runNames(options.store)).map(numberOf)
  for (let number = newest + 1; number <= newest + maxTries; number++) {
    const name = `ask-${number}`
    const world = new World({ name, systems: standardSystems(), components: Object.values(standardComponents) })
    world.spawn(...leadParts({ question, model, folder: path, tools, config: options.config }))
    const run = await opened(name, { tools, model }, options, () => world).catch(ignoreLocked)
    if (run?.world === world) return run
    await run?.runner.stop()
  }
  throw new EntiaError('world-locked', `Other processes took all numbers from ask-${newest + 1} on.`)
}

export async function reopened({ name, world, agent }: AskRun, options: RunOptions): Promise<OpenRun> {
  const { model } = world.read(agent, Llm)
  return opened(name, { tools: toolsIn(world.read(agent, Folder).path), model }, options)
}

/**
 * The newest unfinished run, else the newest; `undefined` if there is none.
 *
 * @throws `world-locked`
 */
export async function lastRun(store: Store): Promise<AskRun | undefined> {
  let newest: AskRun | undefined
  for (const name of await runNames(store)) {
    const run = await lookAt(store, name)
    if (!isFinished(run)) return run
    newest ??= run
  }
  return newest
}

/** A lead whose turn has ended is woken again while researchers are at work. */
export function isFinished({ world, agent }: AskRun): boolean {
  return world.has(agent, LastTurn) && !world.has(agent, Turn) && world.query(ActiveFor).length === 0
}

async function opened(
  name: string,
  { tools, model }: { readonly tools: readonly Tool[]; readonly model: string },
  { store, isPaced, record, config }: RunOptions,
  create?: () => World,
): Promise<OpenRun> {
  const isScripted = model === scriptedModel
  const options: OpenRunnerOptions = {
    store,
    name,
    record,
    ...restoring,
    models: { scripted: readerModel({ isPaced }) },
    prices: config.context.prices,
    sessionPool: new SessionPool(isScripted ? { cap: scriptedCap } : {}),
    tools: isScripted && isPaced ? tools.map(pacedTool) : tools,
  }
  const runner = await Runner.open(create === undefined ? options : { ...options, create })
  return { name, runner, world: runner.world, agent: agentIn(runner.world) }
}

/** The stored world, not driven: its folder and model decide which tools to open it with. */
async function lookAt(store: Store, name: string): Promise<AskRun> {
  const runner = await Runner.open({ store, name, ...restoring })
  await runner.stop()
  return { name, world: runner.world, agent: agentIn(runner.world) }
}

function agentIn(world: World): Entity {
  const [agent] = world.query(Llm, Folder)
  if (agent !== undefined) return agent
  throw new EntiaError('corrupt-snapshot', `The run '${world.name}' has no lead. Delete it, and start a new one.`)
}

function toolsIn(path: string): Tool[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw new EntiaError('invalid-argument', `There is no folder ${path}.`, { path })
  if (!stats.isDirectory()) {
    throw new EntiaError('invalid-argument', `${path} is a file. Name the folder that it is in.`, { path })
  }
  const { listFiles, grepFiles, readFile } = fileTools({ folder: path })
  return [listFiles, grepFiles, readFile]
}

async function runNames(store: Store): Promise<string[]> {
  const worlds = await store.list()
  const names = worlds.map(({ name }) => name).filter((name) => /^ask-\d+$/.test(name))
  return names.toSorted((a, b) => numberOf(b) - numberOf(a))
}

function numberOf(name: string): number {
  return Number(name.slice('ask-'.length))
}

function ignoreLocked(error: unknown): undefined {
  if (!(error instanceof EntiaError) || error.code !== 'world-locked') throw error
}
