import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Plugin } from 'rolldown'
import type { PageFiles } from '../../src/inspector/page-files.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'src/inspector/page')

/** Files of `src/base` that ask Node for something, and what stands for them in a browser. */
const inBrowsers: Readonly<Record<string, string>> = {
  [join(root, 'src/base/sha256.ts')]: join(folder, 'data/sha256.ts'),
  [join(root, 'src/base/inspect.ts')]: join(folder, 'data/inspect.ts'),
}

const withoutNode: Plugin = {
  name: 'without-node',
  async resolveId(specifier, importer, options) {
    if (importer === undefined || !specifier.startsWith('.')) return null
    const found = await this.resolve(specifier, importer, { ...options, skipSelf: true })
    return found === null ? null : (inBrowsers[found.id] ?? found)
  },
}

/** Bundles the inspector's page: a script, a style and the page itself, which ask nothing of any other place. */
export async function files(): Promise<PageFiles> {
  const { output } = await build({
    cwd: root,
    input: join(folder, 'main.tsx'),
    platform: 'browser',
    plugins: [withoutNode],
    write: false,
    transform: { target: 'es2022' },
    output: { minify: true, comments: false, codeSplitting: false },
    logLevel: 'warn',
    // How long it takes on a busy machine is no fault of what is built.
    checks: { bundlerTimings: false },
  })
  const [script] = output
  const texts = [
    ['index.html', await readFile(join(folder, 'index.html'), 'utf8')],
    ['page.css', await style()],
    ['page.js', script.code],
  ] as const
  return new Map(texts)
}

/** All styles: tokens first, which the others use. */
async function style(): Promise<string> {
  const styles = join(folder, 'style')
  const first = ['tokens.css', 'base.css']
  const others = (await readdir(styles)).filter((name) => name.endsWith('.css') && !first.includes(name)).toSorted()
  const paths = [...first, ...others].map((name) => join(styles, name))
  return (await Promise.all(paths.map((path) => readFile(path, 'utf8')))).join('\n')
}
