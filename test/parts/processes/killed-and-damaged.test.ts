import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  Conversation,
  defineTool,
  EntiaError,
  LastTurn,
  type Message,
  Runner,
  scripted,
  sqliteStore,
  standardSystems,
  textOf,
  VirtualClock,
  type World,
} from 'entia'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tempFolder } from '../../tools/temp-folder.ts'

/** How often processes are killed and files are damaged: a few times among the other tests, more in `npm run test:breaking`. */
const kills = Number(process.env['KILLS'] ?? 3)
const damages = Number(process.env['DAMAGES'] ?? 12)
const seed = Number(process.env['BREAKING_SEED'] ?? 1)
const steps = 12

/** Numbers from 0 to 1, the same for a seed. */
function dice(from: number): () => number {
  let state = from >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Runs the program until it ends, or is killed when so many things have happened in it. Gives whether it has done. */
async function worked(folder: string, killAfter = Infinity): Promise<boolean> {
  const program = join(import.meta.dirname, '../../programs/killed-run.ts')
  const child = spawn(process.execPath, [program, folder], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close') as Promise<[number | null]>
  let happened = 0
  child.stdout.on('data', (dots: Buffer) => {
    happened += dots.length
    if (happened >= killAfter) child.kill('SIGKILL')
  })
  const [code] = await ended
  return code === 0
}

/** What a world has come to: each call with its results, and the runs of its handlers. */
function settledCalls(world: World): ReadonlyMap<string, readonly string[]> {
  const [worker = 0] = world.query(Conversation)
  const messages: readonly Message[] = [...world.read(worker, Conversation)]
  expect(world.read(worker, LastTurn).stop).toBe('done')
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []))
  const ids = calls.flatMap((block) => (block.type === 'tool-call' ? block.id : []))
  return new Map(
    ids.map((id) => [id, messages.flatMap((each) => (each.role === 'tool' && each.callId === id ? textOf(each) : []))]),
  )
}

const tools = (['pure', 'keyed', 'once'] as const).map((name) =>
  defineTool({ name, description: 'Works.', input: z.object({ step: z.int() }), restart: name, run: () => 'done' }),
)
const standIn = {
  tools,
  models: { worker: scripted(() => 'Well.') },
  ...{ systems: standardSystems(), components },
}

async function openedHere(folder: string): Promise<{ readonly runner: Runner; readonly close: () => Promise<void> }> {
  const store = sqliteStore({ folder })
  try {
    const runner = await Runner.open({ ...standIn, store, name: 'run', clock: new VirtualClock() })
    return { runner, close: async () => (await runner.stop(), await store.close()) }
  } catch (error) {
    await store.close()
    throw error
  }
}

describe('a run that is killed at any moment', () => {
  it(
    'goes on each time, answers each call once, and runs no `once` tool twice',
    { timeout: 60_000 + kills * 5_000 },
    async () => {
      const roll = dice(seed)
      for (let killed = 0; killed < kills;) {
        const folder = await tempFolder()
        while (killed < kills && !(await worked(folder, roll() * 200))) killed++
        while (!(await worked(folder)));
        const { runner, close } = await openedHere(folder)
        const calls = settledCalls(runner.world)
        await close()
        expect(calls.size).toBe(3 * steps)
        expect([...calls.values()].filter((results) => results.length !== 1)).toEqual([])
        const ran = (await readFile(join(folder, 'ran.txt'), 'utf8')).trim().split('\n')
        const once = ran.filter((line) => line.startsWith('once'))
        expect(once.length - new Set(once).size).toBe(0)
        const keysOfSteps = new Set(ran.filter((line) => line.startsWith('keyed')))
        expect(keysOfSteps.size).toBeLessThanOrEqual(steps)
        await rm(folder, { recursive: true })
      }
    },
  )
})

/** Ways in which a disk or a person damages a file. */
const harms: readonly ((bytes: Buffer, roll: () => number) => Buffer)[] = [
  (bytes, roll) => bytes.subarray(0, Math.floor(bytes.length * roll())),
  (bytes, roll) => {
    for (let count = 0; count < 16; count++) bytes[Math.floor(bytes.length * roll())] = Math.floor(256 * roll())
    return bytes
  },
  (bytes, roll) => {
    const from = Math.floor(bytes.length * roll())
    return bytes.fill(0, from, Math.min(bytes.length, from + 512))
  },
  (bytes, roll) => {
    const at = Math.floor(bytes.length * roll())
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.max(0, at - 4_096), at), bytes.subarray(at)])
  },
  () => Buffer.alloc(0),
  (bytes, roll) => Buffer.from(Array.from({ length: bytes.length }, () => Math.floor(256 * roll()))),
]

describe('a damaged database', () => {
  it(
    'is refused by an error that says what to do, or opens as a world that goes on',
    { timeout: 60_000 + damages * 1_000 },
    async () => {
      const roll = dice(seed)
      const made = await tempFolder()
      while (await worked(made, 100)) await rm(join(made, 'run.sqlite'), { force: true })
      const outcomes = new Map<string, number>()
      for (let damaged = 0; damaged < damages; damaged++) {
        const folder = join(await tempFolder(), 'copy')
        await mkdir(folder)
        await cp(made, folder, { recursive: true })
        const files = (await readdir(folder)).filter((name) => /\.sqlite(-wal|-shm)?$/.test(name)).toSorted()
        const target = join(folder, files[Math.floor(files.length * roll())] ?? '')
        const harm = harms[damaged % harms.length]
        if (harm === undefined) throw new Error('There is no such harm.')
        if (damaged % 7 === 6) await rm(target)
        else await writeFile(target, harm(await readFile(target), roll))
        const outcome = await openedHere(folder).then(
          async ({ runner, close }) => {
            await runner.start()
            await runner.idle()
            await close()
            return 'opened'
          },
          (error: unknown) => {
            // A raw error of SQLite, or of JavaScript, is none that anybody can act on.
            if (!(error instanceof EntiaError)) throw error
            return error.code
          },
        )
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      }
      // A file that is gone, or of which nothing is left, is a world that is not there.
      const refusals = new Set(['opened', 'corrupt-journal', 'corrupt-snapshot', 'no-such-world', 'store-failed'])
      expect([...outcomes.keys()].filter((outcome) => !refusals.has(outcome))).toEqual([])
      expect(outcomes.size).toBeGreaterThan(1)
    },
  )
})
