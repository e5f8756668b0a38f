import { readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import {
  agent,
  type Entity,
  fileTools,
  type Initial,
  lastText,
  memoryStore,
  Runner,
  standardSystems,
  VirtualClock,
  World,
} from 'entia'
import { configured, contextReport, contextStats, readConfig } from 'entia/context'
import { type Meter, meteredModel } from './metered-model.ts'
import { type Batch, batchPrompt, questionPrompt, reader } from './reader.ts'

const filesPerBatch = 5
/** One batch has more files than the window has room for. */
const longBatch = { number: 10, files: 20 } as const

export interface LongRunOptions {
  /** Whose files are read, the first so many by name. */
  readonly folder: string
  readonly files: number
  /** Of the model's window. */
  readonly windowTokens: number
  /** What keeps the context alive, as a configuration; absent: nothing does. */
  readonly config?: unknown
}

export interface LongRun {
  readonly meter: Meter
  /** What was answered about the earliest files. */
  readonly answers: readonly string[]
  readonly report: string
  /** Tools that the agent called, and how often. */
  readonly calls: ReadonlyMap<string, number>
}

/** Lets one agent read many files, batch by batch, and asks it about the earliest ones at the end. */
export async function longRun({ folder, files, windowTokens, config }: LongRunOptions): Promise<LongRun> {
  const batches = batchesIn(folder, files)
  const { model, meter } = meteredModel(reader, windowTokens)
  const { readFile } = fileTools({ folder })
  const parts: readonly Initial[] = config === undefined ? [] : configured(readConfig(config))
  const world = new World({ systems: standardSystems() })
  const system = 'You read source files, and remember what each exports.'
  const worker = world.spawn(...agent({ model: 'script/reader', system, tools: [readFile] }), ...parts)
  const runner = new Runner(world, {
    clock: new VirtualClock(),
    models: { script: model },
    tools: [readFile],
    store: memoryStore(),
    prices: {
      'script/reader': { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15, contextWindow: windowTokens },
    },
  })
  const calls = new Map<string, number>()
  runner.on('tool-called', ({ tool, path }) => {
    if (path === undefined) calls.set(tool, (calls.get(tool) ?? 0) + 1)
  })
  await runner.start()
  for (const batch of batches) await said(runner, worker, batchPrompt(batch))
  const answers: string[] = []
  for (const path of batches[0]?.paths ?? []) answers.push(await said(runner, worker, questionPrompt(path)))
  await runner.stop()
  return { meter, answers, report: contextReport(contextStats(world, worker), world.nowMs), calls }
}

/** What the agent answers to a message. */
async function said(runner: Runner, worker: Entity, text: string): Promise<string> {
  await runner.message(worker, text)
  await runner.idle()
  return lastText(runner.world, worker)
}

/** The first so many sources in a folder, by name, in batches. */
function batchesIn(folder: string, files: number): readonly Batch[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const sources = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  const paths = sources.map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
  const first = paths.toSorted((a, b) => (a < b ? -1 : 1)).slice(0, files)
  const batches: Batch[] = []
  for (let from = 0; from < first.length;) {
    const number = batches.length + 1
    const size = number === longBatch.number ? longBatch.files : filesPerBatch
    batches.push({ number, paths: first.slice(from, from + size) })
    from += size
  }
  return batches
}
