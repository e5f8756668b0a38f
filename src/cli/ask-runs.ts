import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import * as standardComponents from '../../components/index.ts'
import {
  agent as agentOf,
  defineComponent,
  EntiaError,
  type Entity,
  fileTools,
  type FileTools,
  LastTurn,
  Llm,
  type OpenRunnerOptions,
  Runner,
  standardSystems,
  type Store,
  World,
} from '../index.ts'
import { type Question, questionPrompt, systemPrompt } from './question-prompt.ts'
import { readerModel } from './reader/reader-model.ts'

/** The folder that an agent is asked about, as an absolute path. */
export const Folder = defineComponent('Folder', z.strictObject({ path: z.string() }))

/** Steps that a question may take: what an answer may cost at most. */
const maxSteps = 30
/** Other processes may take a number first, so many times. */
const maxTries = 100

/** One question to one agent, in a world of its own. */
export interface AskRun {
  readonly name: string
  readonly world: World
  readonly agent: Entity
}

/** A run that is about to be driven. */
export interface OpenRun extends AskRun {
  readonly runner: Runner
}

export interface RunOptions {
  readonly store: Store
  /** Whether the scripted model takes its time. */
  readonly isPaced: boolean
}

/** Makes the next run. @throws `invalid-argument` for a folder that is none */
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
    const messages = questionPrompt(question)
    world.spawn(...agentOf({ model, system: systemPrompt, tools, messages, maxSteps }), Folder({ path }))
    const run = await opened(name, tools, options, () => world).catch(ignoreLocked)
    if (run?.world === world) return run
    await run?.runner.stop()
  }
  throw new EntiaError('world-locked', `All numbers from ask-${newest + 1} on were taken by other processes.`)
}

/** Opens a run of before, to go on with it. */
export async function reopened({ name, world, agent }: AskRun, options: RunOptions): Promise<OpenRun> {
  return opened(name, toolsIn(world.read(agent, Folder).path), options)
}

/**
 * The newest run that has not ended, or else the newest of all; `undefined` if there is none.
 *
 * @throws `world-locked` when another process is at it
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

export function isFinished({ world, agent }: AskRun): boolean {
  return world.has(agent, LastTurn)
}

const restoring = { systems: standardSystems(), components: { ...standardComponents, Folder } }

async function opened(
  name: string,
  tools: FileTools[keyof FileTools][],
  { store, isPaced }: RunOptions,
  create?: () => World,
): Promise<OpenRun> {
  const options: OpenRunnerOptions = {
    store,
    name,
    ...restoring,
    models: { scripted: readerModel({ isPaced }) },
    tools,
  }
  const runner = await Runner.open(create === undefined ? options : { ...options, create })
  return { name, runner, world: runner.world, agent: agentIn(runner.world) }
}

/** The world as the store has it, without driving it: what is asked about must be known before tools can be given. */
async function lookAt(store: Store, name: string): Promise<AskRun> {
  const runner = await Runner.open({ store, name, ...restoring })
  await runner.stop()
  return { name, world: runner.world, agent: agentIn(runner.world) }
}

function agentIn(world: World): Entity {
  const [agent] = world.query(Llm, Folder)
  if (agent !== undefined) return agent
  throw new EntiaError('corrupt-snapshot', `The run '${world.name}' has nobody to ask. Remove it, and ask again.`)
}

function toolsIn(path: string): FileTools[keyof FileTools][] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw new EntiaError('invalid-argument', `There is no folder ${path}.`, { path })
  if (!stats.isDirectory()) {
    throw new EntiaError('invalid-argument', `${path} is a file. Name the folder that it is in.`, { path })
  }
  return Object.values(fileTools({ folder: path })) as FileTools[keyof FileTools][]
}

/** Names of runs, newest first. */
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
