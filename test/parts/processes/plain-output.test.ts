import { describe, expect, it, vi } from 'vitest'
import { textView } from '../../../src/cli/terminal/terminal-view.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { Program, run } from '../../cli/program.ts'
import { files, question } from '../../cli/read-folder.ts'
import { Terminal } from '../../cli/terminal.ts'

// A process takes its time to begin, more so where many do.
vi.setConfig({ testTimeout: 60_000 })

describe('output that goes to no terminal', () => {
  it('has no control codes, and a line for every call', async () => {
    const folder = await tempFolder(files)
    const { code, stdout } = await run(['ask', folder, '--question', question, '--fast'], { in: await tempFolder() })
    expect(code).toBe(0)
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    const rows = stdout.split('\n').filter((row) => /^ {2}[✓✗▸] /.test(row))
    const ofDocs = rows.filter((row) => row.includes(' docs › '))
    // Calls of one step are listed as they end.
    const words = ['tool', 'call', 'process', 'kill']
    expect(ofDocs.slice(1, 5).toSorted()).toEqual(
      words.toSorted().map((word) => expect.stringContaining(`✓ docs › grep_files \\b${word} in docs`)),
    )
    expect(ofDocs.toSpliced(1, 4)).toEqual([
      '  ✓ docs › list_files . docs  3 entries',
      expect.stringMatching(/✓ docs › read_file docs\/\S+ {2}/),
      expect.stringMatching(/✓ docs › read_file docs\/\S+ {2}/),
      '  ✗ docs › read_file docs/restarts.md  docs/restarts.md has 6 lines; from=7 is past its end.',
    ])
    expect(rows).toContain('  ▸ examples  running')
    expect(rows.join('\n')).toMatch(/^ {2}✓ docs {2}succeeded · 4 steps · [\d,]+ tokens · \d+\.\d s$/m)
    expect(stdout).toContain('  > is run again, unless its tool says `once`.\n')
    expect(stdout.split('\n').slice(-9, -4)).toEqual([
      expect.stringMatching(/^ {2}✓ lead +succeeded +7 steps +[\d,]+ tokens +\d+\.\d s$/),
      expect.stringMatching(
        /^ {2}├─ ✓ docs +succeeded +6 steps +.* {2}2 files searched, 2 places read\. Found: tool, /,
      ),
      expect.stringMatching(/^ {2}├─ ✓ examples +succeeded +4 steps /),
      expect.stringMatching(/^ {2}└─ ✓ image.bin +succeeded +3 steps /),
      '',
    ])
    expect(stdout.split('\n').at(-4)).toMatch(
      /^ask-1: 3 sessions · \d+ model calls · \d+ tool calls · [\d,]+ tokens in · /,
    )
    expect(stdout.split('\n').slice(-2)).toEqual([expect.stringMatching(/: entia chat$/), ''])
  })

  it('is as plain on a terminal that knows no control codes', () => {
    const terminal = new Terminal(80)
    const view = textView(terminal, { isDumb: true })
    view.tell({ type: 'run-started', run: 'ask-1', data: '', folder: '/f', question: 'Why?', places: [], model: 'a/b' })
    view.tell({ type: 'session-queued', tick: 1, index: 0, session: 's', name: 'docs' })
    view.tell({ type: 'session-started', tick: 2, index: 0, session: 's', name: 'docs', task: 'Why?' })
    view.tell({ type: 'session-ended', tick: 3, index: 0, session: 's', status: 'failed', note: 'boom' })
    view.close()
    expect(terminal.sent).not.toContain('\u001b')
    expect(terminal.shown).toContain(`  ✗ docs${' '.repeat(58)}failed · boom`)
  })
})

describe('output that goes to a pipe which is closed', () => {
  it.for([
    ['--help'],
    ['--version'],
    ['config', 'path'],
    ['sessions', 'list', '--all'],
    ['skills', 'list'],
    ['mcp', 'list'],
    ['worlds', '--help'],
    ['sim', '--help'],
    ['ask', '.', '--question', 'why', '--fast'],
  ])('ends the program quietly: %j', async (words) => {
    const program = new Program(words, { in: await tempFolder(files) })
    program.child.stdout?.destroy()
    expect(await program.ended).toMatchObject({ code: 141, stderr: '' })
  })
})
