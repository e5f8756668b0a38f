import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  Conversation,
  type EntiaError,
  LastTurn,
  memoryStore,
  type ModelProvider,
  realClock,
  type Recording,
  replay,
  sqliteStore,
  standardSystems,
  type World,
} from 'entia'
import { SubagentSession } from 'entia/components'
import * as components from 'entia/components'
import {
  loadRecording,
  saveRecording,
  simulate,
  type SimulateOptions,
  type SimulationResult,
} from '../../src/sim/index.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { rejection } from '../behaviour/turns/driving.ts'
import {
  clerk,
  lead,
  type OfficeEdits,
  officeModels,
  officeTools,
  officeWorld,
  type RecordedRun,
  recordOffice,
} from './recorded-office.ts'

let folder: string
let file: string
let saved: Recording
let recorded: RecordedRun

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'entia-recording-'))
  file = join(folder, 'deep', 'down', 'office.entia')
  const store = memoryStore()
  recorded = await recordOffice(store)
  await saveRecording(store, 'office', file)
  saved = await loadRecording(file)
})

afterAll(() => rm(folder, { recursive: true }))

const nobody: ModelProvider = {
  call: () => {
    throw new Error('A model was called.')
  },
}

/** The office under its recording, with models that must not be called and tools that must not run. */
async function replayed(edits: OfficeEdits = {}, options: Partial<SimulateOptions> = {}): Promise<SimulationResult> {
  const models = Object.entries(officeModels()).map(([name, { retry }]) => [name, { ...nobody, retry }] as const)
  const tools = officeTools(edits).map(({ declaration }) => ({
    declaration,
    call: () => {
      throw new Error('A tool ran.')
    },
  }))
  return simulate({
    tools,
    recording: saved,
    world: (seed) => officeWorld({ seed, ...edits }),
    models: Object.fromEntries(models),
    ...options,
  })
}

/** The same, with who goes on where the recording has no answer. */
async function goneOn(edits: OfficeEdits): Promise<SimulationResult> {
  return replayed(edits, { onMiss: 'script', models: officeModels(), tools: officeTools(edits) })
}

async function refusal(refused: Promise<unknown>): Promise<EntiaError> {
  return (await rejection(refused)) as EntiaError
}

const places = (result: SimulationResult): readonly string[] =>
  result.missed.map(({ label, agent, step, component }) => `${label}: ${agent}, ${step}, ${component}`)

describe('a recording in a file', () => {
  it('holds the worlds of all sessions, and its folders are made', () => {
    expect(saved).toMatchObject({ root: 'office', seed: 7, version: packageJson.version })
    expect(saved.worlds).toHaveLength(3)
  })

  it('is the same whichever store it comes from', async () => {
    const store = sqliteStore({ folder: join(folder, 'store') })
    await recordOffice(store)
    const other = join(folder, 'sqlite.entia')
    await saveRecording(store, 'office', other)
    await store.close()
    expect(await loadRecording(other)).toEqual(saved)
  })

  it('replays world by world, exactly', () => {
    const { difference: first, worlds } = replay(saved, { systems: standardSystems(), components })
    expect(first).toBeUndefined()
    expect(worlds.map(({ label }) => label).toSorted()).toEqual(['office', 'office/1.1', 'office/1.2'])
    for (const { difference, ticks } of worlds) expect([difference, ticks > 2]).toEqual([undefined, true])
    expect(worlds[0]?.hash).toBe(recorded.world.hash())
    expect(JSON.parse(JSON.stringify(worlds))).toEqual(worlds)
  })

  it('replayed with other systems says of each world where it went another way', () => {
    const dice = { name: 'dice', priority: -85, run: (world: World) => void world.random() }
    const { difference: first, worlds } = replay(saved, { systems: [...standardSystems(), dice], components })
    expect(first).toEqual(worlds[0]?.difference)
    for (const { difference } of worlds) expect(difference).toMatchObject({ tick: 1, component: 'World' })
  })
})

describe('a recorded run that is simulated', () => {
  it('with the same world is the same to the last byte, and nobody is called', async () => {
    const result = await replayed()
    expect(result.violation).toBeUndefined()
    expect(result.missed).toEqual([])
    expect(result.hash).toBe(recorded.world.hash())
    expect([...result.worlds.keys()].toSorted()).toEqual(['office', 'office/1.1', 'office/1.2'])
    for (const who of [lead, clerk]) expect(result.world.read(who, LastTurn).stop).toBe('done')
  })

  it('needs neither models nor tools', async () => {
    const result = await simulate({ recording: saved, world: (seed) => officeWorld({ seed }) })
    expect(result.violation).toBeUndefined()
    expect(result.hash).toBe(recorded.world.hash())
  })

  it('on a real clock ends the same on a virtual one', async () => {
    const store = memoryStore()
    const { world } = await recordOffice(store, { clock: realClock, latencyMs: [0, 5], sleepMs: 0.7 })
    const real = join(folder, 'real.entia')
    await saveRecording(store, 'office', real)
    const result = await replayed({}, { recording: await loadRecording(real) })
    expect(result.violation).toBeUndefined()
    expect(result.world.hash({ stable: true })).toBe(world.hash({ stable: true }))
  })

  it('goes on over crashes: what is called again is answered again, and scripts do what else comes of them', async () => {
    const scripts = { onMiss: 'script', models: officeModels(), tools: officeTools() } as const
    let crashes = 0
    let same = 0
    for (let seed = 1; seed <= 20; seed++) {
      const result = await replayed({}, { seed, faults: { crash: { perTick: 0.05 } }, ...scripts })
      expect(result.violation, `seed ${seed}`).toBeUndefined()
      crashes += result.crashes
      for (const who of [lead, clerk]) expect(result.world.read(who, LastTurn).stop).toBe('done')
      if (result.missed.length > 0 || result.crashes === 0) continue
      expect(result.world.read(lead, Conversation)).toEqual(recorded.world.read(lead, Conversation))
      expect(result.world.read(clerk, Conversation)).toEqual(recorded.world.read(clerk, Conversation))
      same++
    }
    expect(crashes).toBeGreaterThan(20)
    expect(same).toBeGreaterThan(3)
  })
})

describe('an edit of a recorded run', () => {
  it.for<readonly [string, OfficeEdits, RegExp]>([
    ['SystemPrompt', { system: 'Be kind.' }, /SystemPrompt, in text: recorded "Be brief\.", got "Be kind\."/],
    [
      'ToolRegistry',
      { lookDescription: 'Looks out.' },
      /description of tool 'look': recorded "Looks somewhere\.", got/,
    ],
    ['Conversation', { task: 'Go now' }, /Conversation, in message 1 \(user\): recorded "Go", got "Go now"/],
    ['Llm', { temperature: 0.5 }, /Llm, in temperature: recorded nothing, got "0\.5"/],
    ['OutputSchema', { schema: { type: 'object' } }, /OutputSchema, in schema: recorded nothing, got/],
  ])('of its %s is named, with the first request that it changes', async ([component, edits, said]) => {
    const { ok, violation, missed } = await replayed(edits)
    expect(ok).toBe(false)
    expect(violation).toMatchObject({ law: 'replay-mismatch', world: 'office', tick: 1 })
    expect(violation?.message).toMatch(/^Agent 1 of office, step 1: the request to lead\/x is not in the recording\. /)
    expect(violation?.message).toMatch(said)
    expect(violation?.message).toContain("onMiss: 'script'")
    expect(missed).toMatchObject([
      { component, kind: 'model', label: 'office', agent: lead, step: 1, attempt: 1, tick: 1 },
    ])
  })

  it('that a session is the first to feel is named there', async () => {
    const edited = officeTools({ lookDescription: 'Looks out.' })
    const { violation, missed } = await replayed({}, { tools: edited })
    expect(violation).toMatchObject({ law: 'replay-mismatch', world: 'office/1.1' })
    expect(missed).toMatchObject([{ label: 'office/1.1', step: 1, component: 'ToolRegistry' }])
  })

  it('of the seed is named, since ids of sessions are made of it', async () => {
    const { violation, missed } = await replayed({ seed: 8 })
    expect(missed).toMatchObject([{ component: 'Conversation', where: 'message 3 (tool)' }])
    expect(violation?.message).toContain("recorded world is 'office' with seed 7, and this one is 'office' with seed 8")
  })

  it('goes on with scripted answers if asked to, and says all that the recording has no answer to', async () => {
    const result = await goneOn({ system: 'Be kind.' })
    expect(result.violation).toBeUndefined()
    expect(places(result)[0]).toBe(`office: ${lead}, 1, SystemPrompt`)
    expect(places(result)).toContain('office/1.2: 1, 2, SystemPrompt')
    // The clerk's requests are as they were.
    expect(places(result).filter((place) => place.startsWith(`office: ${clerk}`))).toEqual([])
    for (const who of [lead, clerk]) expect(result.world.read(who, LastTurn).stop).toBe('done')
    expect(result.world.read(clerk, Conversation)).toEqual(recorded.world.read(clerk, Conversation))
  })

  it('gives the same run each time', async () => {
    const [first, second] = [await goneOn({ task: 'Go now' }), await goneOn({ task: 'Go now' })]
    expect(first.trace.lines).toEqual(second.trace.lines)
  })

  it('that nobody can go on from breaks the run, which says who is missing', async () => {
    const { violation } = await replayed({ system: 'Be kind.' }, { onMiss: 'script', models: {} })
    expect(violation).toMatchObject({ law: 'replay-mismatch' })
    expect(violation?.message).toContain("pass a provider 'lead' in 'models'")
  })
})

describe('a file', () => {
  const other = (name: string): string => join(folder, name)

  async function refused(edit: (lines: string[]) => readonly string[]): Promise<EntiaError> {
    const lines = (await readFile(file, 'utf8')).split('\n')
    await writeFile(other('edited.entia'), edit(lines).join('\n'))
    return refusal(loadRecording(other('edited.entia')))
  }

  it('that was cut off is refused with the line at which it ends', async () => {
    for (const [cut, said] of [
      [3, 'line 3: expected a line of the snapshot'],
      [20, 'line 20: expected a tick of world'],
      [-1, 'expected the end of the recording'],
    ] as const) {
      const error = await refused((lines) => [...lines.slice(0, cut - 1), ''])
      expect(error).toMatchObject({ code: 'corrupt-journal' })
      expect(error.message).toContain(said)
      expect(error.message).toMatch(/the file ends there: it was cut off\. Nothing was loaded: use another copy/)
    }
  })

  it('that was cut off in the middle of a line is refused', async () => {
    const error = await refused((lines) => [...lines.slice(0, 9), (lines[9] ?? '').slice(0, 30)])
    expect(error.message).toMatch(/line 10: expected .*, got half a line: it was cut off/)
  })

  it('that was edited is refused with what was edited', async () => {
    const edited = (from: string, to: string, what: RegExp) => async () => {
      const error = await refused((lines) => lines.map((line) => line.replace(from, to)))
      expect(error).toMatchObject({ code: 'corrupt-journal' })
      expect(error.message).toMatch(what)
    }
    await edited('Be brief.', 'Be kind.', /line 3: the snapshot of world 'office' is not what was saved/)()
    await edited('All are back.', 'None is back.', /line \d+: tick \d+ of world 'office' is not what was saved/)()
    await edited('"worlds"', '"words"', /line 1: expected the head of a recording; it is none/)()
    await edited('"sha256":"', '"sha256":"0', /expected the end of the recording; it is none at end.sha256/)()
    const added = await refused((lines) => [...lines, '{}', ''])
    expect(added.message).toContain('there is more behind the end')
  })

  it('of a newer version is refused: it takes a newer entia', async () => {
    const error = await refused(([, ...lines]) => ['{"entiaRecording":4,"future":true}', ...lines])
    expect(error).toMatchObject({ code: 'newer-version' })
    expect(error.message).toContain('format 4 of recordings, this version reads up to 3. Update entia.')
  })

  it('that is none, or no recording, is refused with what to do', async () => {
    const missing = await refusal(loadRecording(other('missing.entia')))
    expect(missing).toMatchObject({ code: 'invalid-argument' })
    expect(missing.message).toMatch(/missing\.entia.*Save one there with saveRecording\(store, name, file\)/)
    await writeFile(other('letter.txt'), 'Dear all,\n')
    const letter = await refusal(loadRecording(other('letter.txt')))
    expect(letter.message).toMatch(/letter\.txt is no recording.*Name a file that saveRecording has written/)
  })

  it('that cannot be written is named, and nothing is left of it', async () => {
    const store = memoryStore()
    await recordOffice(store)
    await writeFile(other('not-a-folder'), '')
    const error = await refusal(saveRecording(store, 'office', join(other('not-a-folder'), 'office.entia')))
    expect(error).toMatchObject({ code: 'store-failed' })
    expect(error.message).toContain('cannot be written to')
    expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([])
  })
})

describe('a run', () => {
  it('without record: true is refused with advice', async () => {
    const store = memoryStore()
    await recordOffice(store, { record: false })
    const error = await refusal(saveRecording(store, 'office', join(folder, 'none.entia')))
    expect(error).toMatchObject({ code: 'invalid-argument' })
    expect(error.message).toMatch(
      /was run without record: true.*Run it from its beginning with run\(world, \{ store, record: true/,
    )
  })

  it('that the store does not have, and one that is a session, are refused', async () => {
    const store = memoryStore()
    const { world } = await recordOffice(store)
    const nowhere = await refusal(saveRecording(store, 'nowhere', join(folder, 'none.entia')))
    expect(nowhere).toMatchObject({ code: 'no-such-world' })
    const [session] = world.query(SubagentSession)
    const { sessionId } = world.read(session ?? 0, SubagentSession)
    const child = await refusal(saveRecording(store, sessionId, join(folder, 'none.entia')))
    expect(child.message).toContain("save the recording of 'office'")
  })
})
