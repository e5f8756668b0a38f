import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type IBasePtyForkOptions, spawn } from '@lydell/node-pty'
import manifest from 'entia/package.json' with { type: 'json' }
import { compare, median } from './measure.ts'
import { readable, type Row } from './row.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const packages = ['zod', 'bitecs', 'p-queue']
/** The programs that are compared, by what each imports. */
const programs = {
  entia: [manifest.name],
  packages,
  'entia-sdk': [manifest.name, 'openai'],
  'zod-sdk': ['zod', 'openai'],
}
type Program = keyof typeof programs

/** What `import 'entia'` costs, built and installed, beside the import of what it stands on; and the program's start. */
export async function measure(): Promise<Row[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'entia-bench-')))
  try {
    await install(folder)
    const alone = await medians(folder, 'entia', 'packages', 'wallMs')
    const withSdk = await medians(folder, 'entia-sdk', 'zod-sdk', 'cpuMs')
    return [
      {
        name: `import of entia, time over that of ${packages.join(', ')}`,
        value: alone.work / alone.against,
        unit: '×',
        limit: 1.25,
        against: `${packages.join(', ')}: ${readable(alone.against)} ms`,
      },
      {
        name: 'import of entia and the SDK of openai, CPU time over that of zod and the SDK',
        value: withSdk.work / withSdk.against,
        unit: '×',
        limit: 1.15,
        against: `zod and openai: ${readable(withSdk.against)} ms`,
      },
      await version(folder),
      await prompt(folder),
    ]
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The shortest use of the program, beside a Node that does nothing. */
async function version(folder: string): Promise<Row> {
  const program = join(folder, 'node_modules', manifest.name, 'dist/cli.js')
  const { wallMs: taken } = await compare({
    rounds: 30,
    warmUp: 3,
    work: () => run(process.execPath, [program, '--version']),
    against: () => run(process.execPath, ['--eval', '0']),
  })
  return {
    name: 'entia --version, time over that of node -e 0',
    value: median(taken.work) / median(taken.against),
    unit: '×',
    limit: 1.5,
    against: `node -e 0: ${readable(median(taken.against))} ms`,
  }
}

/** From the command to the moment when its user can type, on a terminal. */
async function prompt(folder: string): Promise<Row> {
  const program = join(folder, 'node_modules', manifest.name, 'dist/cli.js')
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, LANG: 'C.UTF-8', ANTHROPIC_API_KEY: 'key' }
  const { wallMs: taken } = await compare({
    rounds: 15,
    warmUp: 3,
    work: () => firstPrompt(program, { cwd: folder, env }),
    against: () => run(process.execPath, ['--eval', '0']),
  })
  return {
    name: 'entia chat, until its prompt is shown',
    value: median(taken.work),
    unit: 'ms',
    limit: 300,
    against: `node -e 0: ${readable(median(taken.against))} ms`,
  }
}

async function firstPrompt(program: string, options: IBasePtyForkOptions): Promise<void> {
  const terminal = spawn(process.execPath, [program], { ...options, cols: 80, rows: 24 })
  const ended = new Promise<void>((resolve) => terminal.onExit(() => resolve()))
  await new Promise<void>((resolve) => {
    let written = ''
    terminal.onData((data) => {
      written += data
      if (written.includes('›')) resolve()
    })
    void ended.then(resolve)
  })
  terminal.kill('SIGKILL')
}

/** Builds the package into a folder in which programs find it, and its dependencies, by name. */
async function install(folder: string): Promise<void> {
  const home = join(folder, 'node_modules', manifest.name)
  await mkdir(home, { recursive: true })
  await cp(join(root, 'package.json'), join(home, 'package.json'))
  await run(process.execPath, [join(root, 'scripts/build.ts'), join(home, 'dist')])
  for (const name of new Set([...Object.keys(manifest.dependencies), ...packages])) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(root, 'node_modules', name), link)
  }
  for (const [program, names] of Object.entries(programs)) {
    const lines = [
      'const begin = performance.now()',
      'const cpuBegin = process.cpuUsage()',
      `await import('./all-${program}.mjs')`,
      'const { user, system } = process.cpuUsage(cpuBegin)',
      'const taken = { wallMs: performance.now() - begin, cpuMs: (user + system) / 1_000 }',
      'process.stdout.write(JSON.stringify(taken))',
    ]
    await writeFile(join(folder, `${program}.mjs`), lines.join('\n'))
    await writeFile(join(folder, `all-${program}.mjs`), names.map((name) => `import '${name}'`).join('\n'))
  }
}

interface ImportTime {
  readonly wallMs: number
  readonly cpuMs: number
}

/** Median times of two imports in milliseconds, each in a process of its own, in turns. */
async function medians(folder: string, work: Program, against: Program, clock: keyof ImportTime) {
  const taken: { readonly work: number[]; readonly against: number[] } = { work: [], against: [] }
  const imported = async (program: Program): Promise<number> => {
    const { stdout } = await run(process.execPath, [join(folder, `${program}.mjs`)])
    return (JSON.parse(stdout) as ImportTime)[clock]
  }
  await compare({
    rounds: 30,
    warmUp: 3,
    work: async () => taken.work.push(await imported(work)),
    against: async () => taken.against.push(await imported(against)),
  })
  return { work: median(taken.work), against: median(taken.against) }
}
