import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { report, root, wrongAbout } from './printed.ts'

/**
 * Type-checks and runs each block of README.md that starts with ```ts run, as it is printed there. If the next block is
 * a ```text block, it is what the program prints; `…` stands for anything within a line.
 */
const readme = await readFile(join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)].map(({ 1: language, 2: body = '', index }) => ({
  language,
  body,
  line: readme.slice(0, index).split('\n').length,
}))

// Inside of the project, where the package finds itself by its name.
const folder = await mkdtemp(join(root, '.readme-'))
try {
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ extends: '../tsconfig.json', include: ['*.ts'] }))
  const results = new Map<string, string | undefined>()
  for (const [index, { language, body, line }] of blocks.entries()) {
    if (language !== 'ts run') continue
    const path = join(folder, `line-${line}.ts`)
    const next = blocks[index + 1]
    await writeFile(path, body)
    results.set(`README.md:${line}`, await wrongAbout(path, next?.language === 'text' ? next.body.trim() : undefined))
  }
  const types = await typeErrors()
  if (types !== undefined) results.set('README.md as TypeScript', types)
  report('programs of the README', results)
} finally {
  await rm(folder, { recursive: true })
}

/** What the compiler says of the blocks: `line-12.ts` is the block that starts in line 12. */
async function typeErrors(): Promise<string | undefined> {
  return promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { cwd: root }).then(
    () => undefined,
    (error: { readonly stdout: string }) => error.stdout.replaceAll(`${basename(folder)}/`, ''),
  )
}
