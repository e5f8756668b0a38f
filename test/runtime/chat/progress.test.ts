import { observerProgress, type ToolCallEvent } from 'entia/runtime'
import { describe, expect, it } from 'vitest'

interface Told {
  readonly arguments?: ToolCallEvent['call']['arguments']
  readonly outcome?: ToolCallEvent['outcome']
  readonly reason?: string
  readonly result?: string
  readonly success?: boolean
}

/** The line that is written for a call. */
function line(tool: string, told: Told = {}): string {
  const { outcome = 'ran', reason = 'default: code/read/cli', result = 'ok', success = outcome === 'ran' } = told
  const lines: string[] = []
  observerProgress({ write: (text) => lines.push(text) })({
    call: {
      id: 'call-1',
      tool,
      arguments: told.arguments ?? {},
      channel: 'cli',
      paths: [],
      urls: [],
      dataClass: 'code',
      operation: 'read',
    },
    decision: { model: 'cloud', approval: 'allow', reason },
    outcome,
    result,
    success,
    elapsedMs: 1,
    callNumber: 1,
  })
  return lines.join('')
}

describe('the progress line of a call', () => {
  it('names the tool, what it is about, and how many lines it gave', () => {
    expect(line('read_file', { arguments: { path: 'a.ts' }, result: '1\n2\n3\n' })).toBe(
      '  [read_file] a.ts (3 lines)\n',
    )
    expect(line('x', { result: '' })).toBe('  [x] (0 lines)\n')
    // What a model reads of an empty result.
    expect(line('x', { result: '[no output]' })).toBe('  [x] (0 lines)\n')
    expect(line('x', { result: 'one' })).toBe('  [x] (1 lines)\n')
    expect(line('x', { result: '\n' })).toBe('  [x] (1 lines)\n')
  })

  it('says that a call ran and failed', () => {
    const given = { arguments: { command: 'echo x; exit 1' }, result: 'x\n[exit 1]', success: false }
    expect(line('bash', given)).toBe('  [bash] echo x; exit 1 (2 lines) (error)\n')
  })

  it.each(['deny', 'declined', 'cancelled'] as const)('says why a call did not end well: %s', (outcome) => {
    expect(line('bash', { arguments: { command: 'ls' }, outcome, reason: 'plan mode' })).toBe(
      `  [bash] ls ${outcome}: plan mode\n`,
    )
    expect(line('x', { outcome, reason: 'plan mode' })).toBe(`  [x] ${outcome}: plan mode\n`)
  })

  it.each([
    ['read_file', { path: 'a.ts' }, 'a.ts'],
    ['write_file', { path: 'a.ts', content: 'x' }, 'a.ts'],
    ['replace_in_file', { path: 'a.ts', old: 'x', new: 'y' }, 'a.ts'],
    ['list_files', {}, '.'],
    ['list_files', { path: 'src' }, 'src'],
    ['grep_files', { pattern: 'a+b', path: 'src' }, '/a+b/'],
    ['bash', { command: 'npm test' }, 'npm test'],
    ['cmd', { command: 'dir' }, 'dir'],
    ['run_js', { code: '1 + 1' }, '1 + 1'],
    ['js_help', { package: 'zod' }, 'zod'],
    ['js_help', { package: 'zod', symbol: 'z.int' }, 'zod z.int'],
    ['installed_packages', { pattern: 'vite*' }, 'vite*'],
    ['web_search', { query: 'entity component system' }, 'entity component system'],
    ['fetch_url', { url: 'https://example.org/' }, 'https://example.org/'],
    ['git_status', {}, 'status'],
    ['git_status', { path: 'src' }, 'src'],
    ['git_diff', { ref: 'HEAD~1' }, 'HEAD~1'],
    ['git_diff', { ref: 'HEAD~1', file: 'a.ts' }, 'a.ts'],
    ['git_log', {}, '10'],
    ['git_log', { n: 3 }, '3'],
    ['git_log', { n: 3, file: 'a.ts' }, 'a.ts'],
  ])('shows of %s with %j the hint %s', (tool, given, hint) => {
    expect(line(tool, { arguments: given })).toBe(`  [${tool}] ${hint} (1 lines)\n`)
  })

  it.each(['git_diff', 'installed_packages', 'constructor', 'toString'])(
    'has no hint for %s without arguments',
    (tool) => {
      expect(line(tool)).toBe(`  [${tool}] (1 lines)\n`)
    },
  )

  it('shows a body of 60 characters whole, and of a longer one the first 57', () => {
    const body = 'x'.repeat(60)
    expect(line('bash', { arguments: { command: body } })).toBe(`  [bash] ${body} (1 lines)\n`)
    expect(line('bash', { arguments: { command: `${body}y` } })).toBe(`  [bash] ${'x'.repeat(57)}... (1 lines)\n`)
  })

  it('stays on one line, and sends a terminal no codes', () => {
    const command = 'echo "a\nb"\r\n\u001B[31mred\u0007'
    expect(line('bash', { arguments: { command } })).toBe('  [bash] echo "a⏎b"⏎[31mred (1 lines)\n')
  })
})
