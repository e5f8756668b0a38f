import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import manifest from 'entia/package.json' with { type: 'json' }
import { compare, median } from './measure.ts'
import { readable, type Row } from './row.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const packages = ['zod', 'bitecs', 'p-queue']

/** What a program pays for `import 'entia'`, built and installed, beside the import of what it stands on. */
export async function measure(): Promise<Row[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'entia-bench-')))
  try {
    await install(folder)
    const entia: number[] = []
    const bare: number[] = []
    await compare({
      rounds: 30,
      warmUp: 3,
      work: async () => entia.push(await importTime(join(folder, 'entia.mjs'))),
      against: async () => bare.push(await importTime(join(folder, 'packages.mjs'))),
    })
    return [
      {
        name: `import of entia, time over that of ${packages.join(', ')}`,
        value: median(entia) / median(bare),
        unit: '×',
        limit: 1.25,
        against: `${packages.join(', ')}: ${readable(median(bare))} ms`,
      },
    ]
  } finally {
    await rm(folder, { recursive: true })
  }
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
  const programs = { 'entia.mjs': [manifest.name], 'packages.mjs': packages }
  for (const [file, names] of Object.entries(programs)) {
    const lines = [
      'const begin = performance.now()',
      `await import(${JSON.stringify(`./all-${file}`)})`,
      'process.stdout.write(String(performance.now() - begin))',
    ]
    await writeFile(join(folder, file), lines.join('\n'))
    await writeFile(join(folder, `all-${file}`), names.map((name) => `import '${name}'`).join('\n'))
  }
}

/** Milliseconds that the import takes, in a process of its own. */
async function importTime(program: string): Promise<number> {
  const { stdout } = await run(process.execPath, [program])
  return Number(stdout)
}
