import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../doors/context.ts'
import { Conversation, EntiaError, lastText, LastTurn, Llm, sqliteStore, textOf } from '../index.ts'
import { readQuestion } from '../../examples/reader/reader.ts'
import { type AskArguments, questionOf } from './ask-arguments.ts'
import { type AskEvent, type View } from './ask-event.ts'
import { type AskRun, isFinished, lastRun, newRun, type OpenRun, reopened, type RunOptions } from './ask-runs.ts'
import { adviceOn, assertKey, chooseModel, smallTierGuard } from './choose-model.ts'
import { followRun } from './follow-run.ts'
import { answeredOf, foundTree } from './found-agents.ts'
import { Folder } from './lead.ts'

export interface AskOptions extends AskArguments {
  readonly config: Config
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Stops the run, so that it can be resumed. */
  readonly signal: AbortSignal
  readonly isInteractive: boolean
  readonly notices: { write(text: string): unknown }
  readonly resumeBy: string
}

/** `stopped`: by the user. `refused`: not started, because the model is small. `failed`: no answer. */
export type AskEnd =
  | { readonly how: 'answered' | 'stopped' | 'refused' }
  | { readonly how: 'failed'; readonly message: string }

/** Asks a lead and its researchers about a folder, or resumes that, and shows it. */
export async function ask(options: AskOptions, view: View): Promise<AskEnd> {
  const store = sqliteStore({ folder: options.data })
  const runOptions: RunOptions = { store, isPaced: !options.fast, record: options.inspect, config: options.config }
  try {
    return await (options.resume ? goOn(options, runOptions, view) : begin(options, runOptions, view))
  } finally {
    await store.close()
  }
}

async function begin(options: AskOptions, runOptions: RunOptions, view: View): Promise<AskEnd> {
  const model = chooseModel(options.model, options.environment, options.config)
  assertKey(model, options.environment)
  const { config, isInteractive, notices } = options
  const session = { model, config, yolo: config.approvalMode === 'allow', oneShot: false, interactive: isInteractive }
  if (smallTierGuard(session, notices) !== undefined) return { how: 'refused' }
  const isNewPlace = !existsSync(options.data)
  const run = await newRun({ ...questionOf(options), model }, runOptions)
  // Stored runs must be neither committed nor searched.
  if (isNewPlace) writeFileSync(join(options.data, '.gitignore'), '*\n')
  view.tell(await started(run, options, runOptions))
  return drive(run, options, runOptions, view)
}

async function goOn(options: AskOptions, runOptions: RunOptions, view: View): Promise<AskEnd> {
  const found = await lastRun(runOptions.store)
  if (found === undefined) {
    const what = `There is no run to resume in ${resolve(options.data)}.`
    throw new EntiaError('no-such-world', `${what} Start one without --resume.`)
  }
  if (isFinished(found)) {
    view.tell(await started(found, options, runOptions))
    return end(found, runOptions, view)
  }
  assertKey(found.world.read(found.agent, Llm).model, options.environment)
  const run = await reopened(found, runOptions)
  view.tell(await started(run, options, runOptions))
  return drive(run, options, runOptions, view)
}

/** Drives a run; with `--inspect` its page is there until the run ends. */
async function drive(run: OpenRun, options: AskOptions, runOptions: RunOptions, view: View): Promise<AskEnd> {
  if (!options.inspect) return driven(run, options, runOptions, view)
  const { inspect } = await import('../inspector/index.ts')
  const page = await inspect(run.runner, { actions: true })
  options.notices.write(`entia: the inspector is at ${page.url}\n`)
  try {
    return await driven(run, options, runOptions, view)
  } finally {
    await page.close()
    options.notices.write(`entia: to look at the run again: entia inspect ${options.data} ${run.name}\n`)
  }
}

async function driven(run: OpenRun, options: AskOptions, runOptions: RunOptions, view: View): Promise<AskEnd> {
  const { runner } = run
  const { signal, resumeBy } = options
  const stop = (): void => void runner.stop()
  const following = followRun(run, (event) => view.tell(event))
  try {
    if (!signal.aborted) await runner.start()
    signal.addEventListener('abort', stop)
    if (!signal.aborted) await runner.idle()
  } finally {
    signal.removeEventListener('abort', stop)
    await runner.stop()
  }
  await following.done()
  if (isFinished(run)) return end(run, runOptions, view)
  view.tell({ type: 'run-stopped', run: run.name, resumeBy })
  return { how: 'stopped' }
}

async function started(run: AskRun, { data, resume }: AskOptions, { store }: RunOptions): Promise<AskEvent> {
  const { world, agent, name } = run
  const messages = [...world.read(agent, Conversation)]
  const { text: question, places } = readQuestion(textOf(messages.find(({ role }) => role === 'user')))
  const { model } = world.read(agent, Llm)
  const facts = { run: name, data: resolve(data), folder: world.read(agent, Folder).path, question, places, model }
  if (!resume) return { type: 'run-started', ...facts }
  const { lead, tree, totals } = await foundTree(store, world, agent)
  const before = { ...totals, lead, tools: answeredOf(world, agent), tree, isFinished: isFinished(run) }
  return { type: 'run-started', ...facts, before }
}

async function end({ world, agent, name: run }: AskRun, { store }: RunOptions, view: View): Promise<AskEnd> {
  const { stop, failure } = world.read(agent, LastTurn)
  const { totals } = await foundTree(store, world, agent)
  const advice = failure && adviceOn(failure, world.read(agent, Llm).model)
  const answer = stop === 'done' ? lastText(world, agent) : ''
  const why = { ...(failure !== undefined && { failure }), ...(advice !== undefined && { advice }) }
  view.tell({ type: 'run-ended', run, ...totals, stop, answer, ...why })
  if (stop === 'done') return { how: 'answered' }
  const message = `${run} ended without an answer (${failure?.kind ?? stop}).`
  return { how: 'failed', message: [message, failure?.message, advice].filter((part) => part !== undefined).join(' ') }
}
