import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rgPath } from '@vscode/ripgrep'
import type { Json, ToolContext } from 'entia'
import { builtinTools } from 'entia/runtime'
import { compare, median, ratio, times } from './measure.ts'
import { readable, type Row } from './row.ts'

const folders = 1_000
const filesEach = 100
const line = 'export const harbour = ships.filter((ship) => ship.isMoored)\n'

const context: ToolContext = {
  signal: new AbortController().signal,
  key: '',
  attempt: 1,
  agent: 0,
  world: '',
  progress: () => {},
  sleep: () => Promise.resolve(),
  post: () => Promise.resolve(),
  message: () => Promise.resolve(),
}

/** Built-in tools on many files, and on a large one. */
export async function measure(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'entia-bench-'))
  try {
    return [await search(join(folder, 'many')), await beginning(folder)]
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** A word that one file of many has. */
async function search(folder: string): Promise<Row> {
  for (let at = 0; at < folders; at++) {
    const inside = join(folder, `part-${at}`)
    await mkdir(inside, { recursive: true })
    const text = line.repeat(20)
    const names = Array.from({ length: filesEach }, (_, index) => join(inside, `ship-${index}.ts`))
    await Promise.all(names.map((name) => writeFile(name, text)))
  }
  await writeFile(join(folder, 'part-7/needle.ts'), 'needle\n')
  const alone = () => promisify(execFile)(rgPath, ['--line-number', '--hidden', 'needle', '.'], { cwd: folder })
  const { wallMs } = await compare({
    rounds: 9,
    warmUp: 2,
    work: () => call(folder, 'grep_files', { pattern: 'needle' }, 'part-7/needle.ts:1: needle'),
    against: alone,
  })
  return {
    name: 'grep_files over 100,000 files, wall time over ripgrep alone',
    value: ratio(wallMs),
    unit: '×',
    limit: 1.5,
    against: `ripgrep alone ${readable(median(wallMs.against))} ms`,
  }
}

/** The same 2,000 lines of a file of 1 GB, and of one that has no more. */
async function beginning(folder: string): Promise<Row> {
  await writeFile(join(folder, 'large.ts'), line.repeat(1_000_000))
  await truncate(join(folder, 'large.ts'), 1_000_000_000)
  await writeFile(join(folder, 'small.ts'), line.repeat(2_000))
  const { wallMs } = await compare({
    rounds: 15,
    warmUp: 3,
    work: () => times(20, () => call(folder, 'read_file', { path: 'large.ts', lines: 500 }, '500\texport')),
    against: () => times(20, () => call(folder, 'read_file', { path: 'small.ts', lines: 500 }, '500\texport')),
  })
  return {
    name: 'read_file of 500 lines of a file of 1 GB, over the same of a file of 120 kB',
    value: ratio(wallMs),
    unit: '×',
    limit: 2,
    against: `the small one ${readable(median(wallMs.against) / 20)} ms`,
  }
}

async function call(cwd: string, name: string, input: Json, expected: string): Promise<void> {
  const [tool] = builtinTools({ cwd, tools: [name] })
  const output = await tool?.call(input, context)
  const text = output?.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  if (text?.includes(expected) !== true) throw new Error(`${name} did not find its text: ${text?.slice(0, 200)}`)
}
