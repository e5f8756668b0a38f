import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadStories } from '../../src/cli/sim/load-stories.ts'
import { emptyTally, SeedRanges, type Tally } from '../../src/cli/sim/seed-ranges.ts'
import { replayHelp } from '../../src/cli/replay/replay-arguments.ts'
import { simArguments, simHelp } from '../../src/cli/sim/sim-arguments.ts'
import { type StorySweep } from '../../src/cli/sim/sweep-story.ts'
import { SweepView } from '../../src/cli/sim/sweep-view.ts'
import { UsageError } from '../../src/cli/parsed-words.ts'
import { tempFolder } from '../tools/temp-folder.ts'
import { run } from './program.ts'
import { Terminal } from './terminal.ts'

describe('a file that is no story', () => {
  it.for<[what: string, text: string, says: string]>([
    ['is no module', 'export default {', 'story.mjs cannot be loaded: '],
    ['throws', "throw new Error('No bees.')", 'cannot be loaded: No bees.'],
    ['has no default export', 'export const world = 1', 'Expected as its default export: the options of simulate()'],
    ['exports a number', 'export default 3', 'got number'],
    ['exports nothing in an object', 'export default {}', 'got an empty object'],
    ['exports something else by name', 'export default { calm: { models: {} } }', "'calm' has no function 'world'"],
    ['has a seed', 'export default { seed: 3, world: () => 3 }', 'must have no seed: entia sim sets one for each run'],
  ])('since it %s is refused, and what was expected is told', async ([, text, says]) => {
    const folder = await tempFolder({ 'story.mjs': text })
    const loaded = loadStories(join(folder, 'story.mjs'))
    await expect(loaded).rejects.toThrow(UsageError)
    await expect(loaded).rejects.toThrow(says)
  })

  it('since its package says that it is CommonJS is refused, and what to write is told', async () => {
    const here = await tempFolder({ 'package.json': '{"type":"commonjs"}', 'story.js': "import 'node:fs'" })
    const { code, stderr } = await run(['sim', 'story.js'], { in: here })
    expect(code).toBe(2)
    expect(stderr).toContain('a module. Write "type": "module" in its package.json, or end its name in .mts or .mjs.')
  })
})

describe('a command line of sim', () => {
  it.for<[words: string, says: string]>([
    ['', 'sim needs a file'],
    ['a.ts b.ts', 'sim runs one file, got 2: a.ts, b.ts.'],
    ['a.ts --seeds 0', '--seeds must be an integer ≥ 1, got 0.'],
    ['a.ts --seeds many', '--seeds must be an integer ≥ 1, got many.'],
    ['a.ts --from -1', '--from needs a value. Write one that begins with a dash behind =.'],
    ['a.ts --jobs 1.5', '--jobs must be an integer ≥ 1, got 1.5.'],
    ['a.ts --seed 3 --seeds 4 --jobs 2', '--seed runs one seed: leave out --seeds and --jobs.'],
    ['a.ts --html=', '--html must name the file to write.'],
    ['a.ts --sedes 3', 'There is no option --sedes. Did you mean --seeds or --seed?'],
  ])('%j is refused', ([words, says]) => {
    expect(() => simArguments(words.split(' ').filter((word) => word !== ''))).toThrow(says)
  })

  it('runs 1,000 seeds from 1 in one job if it says nothing else', () => {
    expect(simArguments(['a.ts'])).toMatchObject({ seeds: 1_000, from: 1, jobs: 1, keepGoing: false, json: false })
  })
})

describe('help', () => {
  it('fits a small terminal', () => {
    for (const line of `${simHelp}${replayHelp}`.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
  })
})

/** Runs ranges of which those seeds fail. */
function ran(from: number, seeds: number, failing: readonly number[], keepGoing: boolean) {
  const failed = failing.filter((seed) => seed >= from && seed < from + seeds)
  const [seed] = failed
  const runs = seed === undefined || keepGoing ? seeds : seed - from + 1
  const counted = keepGoing ? failed : failed.slice(0, 1)
  const tally: Tally = { ...emptyTally, runs, failures: counted.length, failed: counted, faults: { 'tool.hang': runs } }
  return { tally, failure: seed === undefined ? undefined : { seed } }
}

describe('seeds that jobs share', () => {
  it.for([true, false])('add up to the same in whatever order jobs come back (keep going: %s)', (keepGoing) => {
    const failing = [23, 31, 77]
    const sums = [0, 1, 2, 3].map((order) => {
      const ranges = new SeedRanges<{ readonly seed: number }>({ from: 1, seeds: 100, keepGoing })
      for (;;) {
        const taken = [200, 20, 7, 13].flatMap((msARun) => ranges.next(msARun) ?? [])
        if (taken.length === 0) break
        // One of them is slower than the others, another one each time.
        for (const range of [...taken.slice(order), ...taken.slice(0, order)]) {
          ranges.done(range, ran(range.from, range.seeds, failing, keepGoing))
        }
      }
      return { tally: ranges.tally, failure: ranges.failure }
    })
    expect(sums).toEqual(sums.map(() => sums[0]))
    expect(sums[0]).toMatchObject({
      failure: { seed: 23 },
      tally: keepGoing ? { runs: 100, failed: failing } : { runs: 23, failed: [23], faults: { 'tool.hang': 23 } },
    })
  })
})

describe('how far a sweep is', () => {
  const sweep: StorySweep = {
    story: 'team',
    seeds: 2_000,
    tally: { ...emptyTally, runs: 500, faults: { 'tool.hang': 1_204 } },
    failure: undefined,
    realMs: 2_000,
    isStopped: false,
  }

  it('stands on a terminal in one line that changes', () => {
    const terminal = new Terminal(110)
    let now = 0
    const view = new SweepView(terminal, { isDumb: false, now: () => now })
    view.tell(sweep)
    const bar = `${'━'.repeat(6)}${'─'.repeat(18)}`
    expect(terminal.shown).toEqual([
      `team ${bar}  500 of 2,000 seeds · none failed · 250 a second · 1,204 faults · 6.0 s left`,
      '',
    ])
    view.tell({ ...sweep, tally: { ...sweep.tally, runs: 600 } })
    expect(terminal.shown[0]).toContain('500 of')
    now = 200
    view.tell({ ...sweep, tally: { ...sweep.tally, runs: 600, failures: 2 } })
    expect(terminal.shown).toEqual([expect.stringContaining('600 of 2,000 seeds · 2 failed'), ''])
    view.end([[{ text: 'team passed' }]])
    expect(terminal.shown).toEqual(['team passed', '', ''])
  })

  it('fits a terminal that is small', () => {
    const terminal = new Terminal(44)
    new SweepView(terminal, { isDumb: false, now: () => 0 }).tell(sweep)
    expect(terminal.shown).toEqual([expect.stringMatching(/^team ━━─{8} {2}500 of 2,000 seeds.*…$/), ''])
  })

  it('is told elsewhere in a line now and then', () => {
    const written: string[] = []
    const out = Object.assign(new Terminal(80), { isTTY: false, write: (text: string) => written.push(text) > 0 })
    let now = 0
    const view = new SweepView(out, { isDumb: false, now: () => now })
    view.begin({ story: 'team', seeds: 2_000, from: 1, jobs: 2 })
    view.tell(sweep)
    now = 5_000
    view.tell(sweep)
    view.tell(sweep)
    expect(written).toEqual([
      'team · 2,000 seeds from 1 · 2 jobs\n',
      'team · 500 of 2,000 seeds · none failed · 250 a second · 1,204 faults · 6.0 s left\n',
    ])
  })
})
