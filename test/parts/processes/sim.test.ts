import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { type Ended, Program, run } from '../../cli/program.ts'

// A process takes its time to begin, more so where many do.
vi.setConfig({ testTimeout: 60_000 })

const stories = join(import.meta.dirname, '../../programs/stories.ts')

function sim(...words: readonly string[]): Promise<Ended> {
  return run(['sim', ...words], { in: import.meta.dirname })
}

/** The stories of what was written with `--json`, without what depends on how fast they were run. */
function storiesIn({ stdout }: Ended): object[] {
  const { stories: written } = JSON.parse(stdout) as { readonly stories: readonly object[] }
  return written.map((story) => ({ ...story, realMs: 0, runsPerSecond: 0 }))
}

describe('a story that is simulated', () => {
  it('is summed up, with whatever struck, and the process ends well', async () => {
    const { code, stdout, stderr } = await sim(stories, '--story', 'stormy', '--seeds', '25')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const rows = stdout.split('\n').map((line) => line.trim().split(/ {2,}/))
    expect(rows.slice(0, 2)).toEqual([['stormy · 25 seeds from 1 · 1 job'], ['stormy passed']])
    expect(Object.fromEntries(rows)).toMatchObject({
      seeds: '25 runs from 1',
      speed: expect.stringMatching(/ a second, [\d.]+ s, 1 job$/),
      'laws checked': '0 times, 0 laws',
      'tool.throws': expect.stringMatching(/^\d+$/),
    })
  })

  it('comes to the same however many jobs share its seeds, a failure too, which is drawn', async () => {
    const page = join(await tempFolder(), 'run.html')
    const words = [stories, '--story', 'unlucky', '--seeds', '30', '--json']
    const [alone, shared] = await Promise.all([sim(...words, '--html', page), sim(...words, '--jobs', '2')])
    expect([alone.code, shared.code]).toEqual([1, 1])
    expect(storiesIn(shared)).toEqual(storiesIn(alone))
    const failure = { seed: 7, law: 'seeds are below 7', shrunk: { faults: [] } }
    expect(JSON.parse(alone.stdout)).toMatchObject({
      ok: false,
      stories: [{ runs: 7, failed: [7], failure }],
      html: page,
    })
    expect(await readFile(page, 'utf8')).toContain('<title>lookout, seed 7: a law was broken</title>')
  })

  it('that breaks a law is reported with its seed and a test to paste', async () => {
    const { code, stdout } = await sim(stories, '--story', 'unlucky', '--from', '8', '--seeds', '2', '--keep-going')
    expect(code).toBe(1)
    expect(stdout).toMatch(/failed seeds +8, 9\n/)
    expect(stdout).toContain('A law was broken: seeds are below 7\n  seed   8\n')
    expect(stdout).toMatch(/A test to paste[^]+seed: 8,/)
  })

  it('can be run under one seed, and drawn', async () => {
    const folder = await tempFolder()
    const page = join(folder, 'run.html')
    const [trace, chart] = await Promise.all([
      sim(stories, '--story', 'calm', '--seed', '3', '--trace', '--html', page),
      sim(stories, '--story', 'calm', '--seed', '3', '--mermaid'),
    ])
    expect(trace.stdout.split('\n')[0]).toBe('0 lookout 1 turn-started {"agent":1}')
    expect(trace.stdout).toContain(`The page is ${page}\nseed 3: every law held\n`)
    expect(await readFile(page, 'utf8')).toContain('<title>lookout, seed 3: every law held</title>')
    expect(chart).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sequenceDiagram\n/) })
  })

  it('that breaks a law under one seed is reported as it ran', async () => {
    const { code, stdout } = await sim(stories, '--story', 'unlucky', '--seed', '8')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^seed 8: law broken: seeds are below 7\. /)
    expect(stdout).toContain('\n\nA law was broken: seeds are below 7\n  seed   8\n')
    expect(stdout).toContain('Last messages in world lookout')
    expect(stdout).toMatch(/Faults that struck, in order[^]+A test to paste[^]+ {4}seed: 8,/)
  })

  it('that is interrupted is summed up as far as it has come', async () => {
    const program = new Program(['sim', stories, '--story', 'calm', '--seeds', '900000'], { in: import.meta.dirname })
    await once(program.child.stdout as Readable, 'data')
    program.child.kill('SIGINT')
    const { code, stdout, stderr } = await program.ended
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' })
    expect(stdout).toMatch(
      /^calm · 900,000 seeds from 1 · 1 job\ncalm stopped\n {2}seeds +\d+ runs? from 1, of 900,000 /,
    )
  })
})

describe('a file that cannot be simulated', () => {
  it('is refused in a sentence', async () => {
    const { code, stdout, stderr } = await sim('no/such/story.ts')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^entia: There is no file .*no\/such\/story\.ts\./)
  })

  it('since what it makes is no world fails in a sentence', async () => {
    const folder = await tempFolder({ 'story.mjs': "export default { world: () => { throw new Error('No bees.') } }" })
    const { code, stderr } = await sim(join(folder, 'story.mjs'), '--seeds', '2')
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'entia: sweep(): seed 1 could not be run: No bees.\n' })
  })

  it('since it ends its process is told with what it wrote', async () => {
    const text = "export default { world: () => { console.error('Bees!'); process.exit(7) } }"
    const folder = await tempFolder({ 'story.mjs': text })
    const { code, stderr } = await sim(join(folder, 'story.mjs'), '--seeds', '2')
    expect(code).toBe(1)
    expect(stderr).toMatch(/ended with 7 while it ran seeds 1 to 1:\nBees!\n$/)
  })
})

it('a command line with no file is refused in a sentence, and tells of help', async () => {
  const [refused, help] = await Promise.all([sim(), sim('--help')])
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('sim needs a file') })
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('entia sim FILE'), stderr: '' })
})
