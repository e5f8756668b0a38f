import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'rolldown'
import { files as inspectorPage } from './inspector/bundled-page.ts'
import manifest from '../package.json' with { type: 'json' }

/**
 * Builds the package into `dist`, or into the folder that is named: a small file for each door and for the program, all
 * that they load in a few files behind them, so that what comes by several doors is the same thing, and what loads at
 * its first use in files of its own. Node reads one large file much faster than a hundred small ones.
 */
const root = join(import.meta.dirname, '..')
const folder = resolve(process.argv[2] ?? join(root, 'dist'))

await rm(folder, { recursive: true, force: true })
await Promise.all([writeScripts(), writeTokenizer(), writePrograms(), writePage(), writeGrammar(), writeTypes()])

async function writeScripts(): Promise<void> {
  await build({
    cwd: root,
    input: { ...doors(), ...programs() },
    platform: 'node',
    // An example that is part of the program imports the package by its name.
    resolve: { conditionNames: ['entia-source', 'node', 'import'] },
    external: (name) => !name.startsWith('.') && !isAbsolute(name) && name !== manifest.name,
    transform: { target: `node${manifest.engines.node.replace('>=', '')}` },
    output: {
      dir: folder,
      chunkFileNames: 'parts/[name].js',
      codeSplitting: { groups: parts() },
      minifyInternalExports: false,
      // They stand in the types and in the sources, which come along.
      comments: false,
      sourcemap: true,
      // The package brings its sources along.
      sourcemapExcludeSources: true,
    },
    logLevel: 'warn',
  })
}

/** Bundles the one vocabulary of gpt-tokenizer that `#o200k` names: 2 MB instead of the package's 30. */
async function writeTokenizer(): Promise<void> {
  const { 'entia-source': source } = manifest.imports['#o200k']
  const license = await readFile(join(root, 'node_modules/gpt-tokenizer/LICENSE'), 'utf8')
  await build({
    cwd: root,
    input: { o200k: source },
    platform: 'node',
    output: { dir: folder, minify: true, postBanner: `/*! gpt-tokenizer\n${license}*/` },
    logLevel: 'warn',
  })
}

/** Bundles what runs in a thread or process of its own, each into one file: what it loads at once is not to come with the doors. */
async function writePrograms(): Promise<void> {
  const { '#grep-thread': thread, '#js-evaluator': evaluator, '#sandbox-host': sandboxHost } = manifest.imports
  for (const [name, source] of Object.entries({
    'grep-thread': thread['entia-source'],
    'js-evaluator': evaluator['entia-source'],
    'sandbox-host': sandboxHost['entia-source'],
    'inspector-page': './src/inspector/built-page.ts',
  })) {
    await build({
      cwd: root,
      input: { [name]: source },
      platform: 'node',
      external: (imported) => !imported.startsWith('.') && !isAbsolute(imported),
      output: { dir: folder, comments: false },
      logLevel: 'warn',
    })
  }
}

/** Bundles the inspector's page, which a browser loads: beside the program that serves it. */
async function writePage(): Promise<void> {
  const place = join(folder, 'inspector')
  await mkdir(place, { recursive: true })
  for (const [name, text] of await inspectorPage()) await writeFile(join(place, name), text)
}

/** Copies the grammar of shell bodies: the one file that is used of 20 MB of its package. */
async function writeGrammar(): Promise<void> {
  const name = 'tree-sitter-bash.wasm'
  await mkdir(folder, { recursive: true })
  await copyFile(join(root, 'node_modules/tree-sitter-bash', name), join(folder, name))
}

/** Sources by the name of their door's file. */
function doors(): Record<string, string> {
  const sources: Record<string, string> = {}
  for (const door of Object.values(manifest.exports)) {
    if (typeof door === 'string') continue
    const name = /^\.\/dist\/(.+)\.js$/.exec(door.default)?.[1]
    if (name === undefined)
      throw new Error(`package.json: a door's default is ./dist/<name>.js; it is ${door.default}.`)
    sources[name] = door['entia-source']
  }
  return sources
}

/**
 * The file behind the doors that a source goes to: who imports `entia` alone loads neither simulator, command line nor workers of
 * a fleet. The version stays in the program's own file, which prints it without loading another.
 */
function partOf(source: string): string | null {
  if (source === join(root, 'package.json')) return null
  const path = relative(root, source).replaceAll('\\', '/')
  if (/^src\/engine\/(?:fleet|following)\//.test(path)) return `${manifest.name}-fleet`
  const [, part] =
    /^src\/(?:(?:doors|stores)\/(?=mcp\/|matrix\/|postgres\/|dbos\/))?(cli|sim|vitest|inspector|mcp|matrix|postgres|dbos|runtime(?!\/(?:ask|worlds|bounded-stream)))\//.exec(
      path,
    ) ?? []
  return part === undefined ? manifest.name : `${manifest.name}-${part}`
}

/** What `entia` loads goes first, then what its runtime loads: each takes along what it imports, and only that. */
function parts() {
  return [manifest.name, `${manifest.name}-runtime`, undefined].map((part, index) => ({
    name: (source: string): string | null => {
      const own = partOf(source)
      return part === undefined || own === part ? own : null
    },
    debugName: part ?? 'doors',
    priority: 2 - index,
    tags: ['$initial' as const],
  }))
}

/** Sources by the name of the file of what is run by its name. */
function programs(): Record<string, string> {
  return { cli: './src/cli/main.ts' }
}

async function writeTypes(): Promise<void> {
  const tsc = join(root, 'node_modules/.bin/tsc')
  const types = ['-p', join(root, 'tsconfig.build.json'), '--outDir', join(folder, 'types')]
  await promisify(execFile)(tsc, types).catch((error: { readonly stdout: string }) => {
    throw new Error(`The types cannot be built:\n${error.stdout}`)
  })
}
