import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Llm, memoryStore, run as runWorld, type System, standardSystems, VirtualClock, World } from 'entia'
import * as components from 'entia/components'
import { saveRecording } from 'entia/sim'
import { describe, expect, it, vi } from 'vitest'
import { FixtureSet } from '../../fixtures/fixture.ts'
import { calm } from '../../programs/stories.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { type Ended, run } from '../../cli/program.ts'

// A process takes its time to begin, more so where many do.
vi.setConfig({ testTimeout: 60_000 })

function replay(...words: readonly string[]): Promise<Ended> {
  return run(['replay', ...words], { in: import.meta.dirname })
}

/** A folder with the recording of a run, which other systems may have had a part in. */
async function recorded(...others: readonly System[]): Promise<{ readonly folder: string; readonly file: string }> {
  const folder = await tempFolder()
  const file = join(folder, 'run.jsonl')
  const store = memoryStore()
  const { world: make, models, tools } = calm
  const systems = [...standardSystems(), ...others]
  const made = make(3)
  const world = others.length === 0 ? made : World.restore(made.snapshot(), { systems, components })
  await runWorld(world, { store, record: true, models, tools, clock: new VirtualClock() })
  await saveRecording(store, 'lookout', file)
  return { folder, file }
}

describe('a recording that is replayed', () => {
  it('goes the same way, tick by tick', async () => {
    const { file } = await recorded()
    const { code, stdout, stderr } = await replay(file)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      /^recording of lookout\n {2}✓ lookout {2} +4 ticks {2}[\da-f]{64}\nAll 4 ticks of 1 world went the same way\.\n$/,
    )
  })

  it('tells the first tick, system and component that went another way', async () => {
    const meddling: System = {
      name: 'meddling',
      priority: 50,
      run: (world) => world.tick === 2 && world.patch(1, Llm, { temperature: 0.5 }),
    }
    const { file } = await recorded(meddling)
    const [text, json] = await Promise.all([replay(file), replay(file, '--json')])
    expect([text.code, json.code]).toEqual([1, 1])
    expect(text.stdout).toContain('✗ lookout')
    expect(text.stdout).toContain('The first difference: lookout, tick 2, Llm, written by meddling\n  recorded  {"set"')
    expect(text.stdout).not.toContain('It was recorded with')
    const difference = { tick: 2, system: 'meddling', component: 'Llm', recorded: expect.any(Object) }
    expect(JSON.parse(json.stdout)).toMatchObject({
      root: 'lookout',
      same: false,
      worlds: [{ label: 'lookout', ticks: 1, difference }],
    })
  })

  it('that another version of entia has made is named with it, beside the difference', async () => {
    const file = join(await tempFolder(), 'nested.entia')
    new FixtureSet('first-build').unpackRecording('nested', file)
    const { code, stdout } = await replay(file)
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /\nIt was recorded with an earlier version of entia; this is entia .+\.\nThe first difference: nested, tick 1/,
    )
  })

  it('is no recording, was edited or is not there: says so, with the line', async () => {
    const { folder, file } = await recorded()
    const edited = (await readFile(file, 'utf8')).replace('seen 1', 'seen 2')
    await writeFile(file, edited)
    await writeFile(join(folder, 'story.ts'), 'export default 3\n')
    const [cut, other, none] = await Promise.all([
      replay(file),
      replay(join(folder, 'story.ts')),
      replay(join(folder, 'none.jsonl')),
    ])
    expect([cut.code, other.code, none.code]).toEqual([1, 1, 1])
    expect(cut.stderr).toMatch(/run\.jsonl, line \d+: .* it was edited\./)
    expect(other.stderr).toContain('story.ts is no recording')
    expect(none.stderr).toContain('There is no recording to be read in')
  })
})

describe('a story that is run against a recording', () => {
  it('is answered out of it if it asks the same', async () => {
    const { folder, file } = await recorded()
    const story = join(folder, 'story.mjs')
    await writeFile(
      story,
      `export { calm as default } from ${JSON.stringify(join(import.meta.dirname, '../../programs/stories.ts'))}`,
    )
    const { code, stdout, stderr } = await replay(file, '--with', story)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('Whatever was asked is in the recording.')
  })

  it('tells the component that has changed the first request', async () => {
    const { folder, file } = await recorded()
    const story = join(folder, 'story.mjs')
    await writeFile(
      story,
      `export { told as default } from ${JSON.stringify(join(import.meta.dirname, '../../programs/stories.ts'))}`,
    )
    const [failed, scripted] = await Promise.all([
      replay(file, '--with', story),
      replay(file, '--with', story, '--on-miss', 'script', '--json'),
    ])
    expect(failed.code).toBe(1)
    expect(failed.stdout).toMatch(
      /The first difference: Agent 1 of lookout, step 1: .* SystemPrompt.* got "Look well\."/,
    )
    const { missed } = JSON.parse(scripted.stdout) as { readonly missed: readonly object[] }
    expect(missed).toMatchObject([
      { component: 'SystemPrompt', step: 1 },
      { component: 'SystemPrompt', step: 2 },
    ])
  })
})

it('a command line of replay that makes no sense is refused in a sentence', async () => {
  const [none, way, alone, help] = await Promise.all([
    replay(),
    replay('run.jsonl', '--with', 'a.ts', '--on-miss', 'guess'),
    replay('run.jsonl', '--on-miss', 'fail'),
    replay('--help'),
  ])
  expect([none.code, way.code, alone.code, help.code]).toEqual([2, 2, 2, 0])
  expect(none.stderr).toContain('replay needs a recording')
  expect(way.stderr).toContain('--on-miss must be fail or script, got guess.')
  expect(alone.stderr).toContain('--on-miss needs --with MODULE')
  expect(help.stdout).toContain('entia replay FILE')
})
