import { execFile } from 'node:child_process'
import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { PnpmLayout } from './pnpm-layout.ts'
import { endingOf, wrongAbout } from './printed.ts'
import manifest from '../package.json' with { type: 'json' }

/**
 * Packs what `npm run build` made, and looks at the tarball as its users will: what it declares, what its types resolve
 * to, and whether a program elsewhere, with the declared dependencies and nothing else, can import and type every door,
 * and runs on the lowest Node that the package takes.
 */
const root = join(import.meta.dirname, '..')
const bin = (name: string) => join(root, 'node_modules/.bin', name)
const doors = Object.keys(manifest.exports).filter((path) => path !== './package.json')
const names = doors.map((path) => path.replace('.', manifest.name))
/** The program of a package of its own, which `npm ci` installs with the others. */
const lowest = join(root, 'scripts/lowest-node/node_modules/.bin/node')
/** What a door is only for those who have besides. */
const besides = Object.keys(manifest.peerDependencies)

/** An agent that is asked once, under faults. */
const story = `
import { agent, scripted, standardSystems, World } from 'entia'

function world(seed) {
  const made = new World({ name: 'story', seed, systems: standardSystems() })
  made.spawn(...agent({ model: 'script/x', messages: 'Hello' }))
  return made
}
export default { world, models: { script: scripted(() => 'Good day.') }, faults: { crash: { perTick: 0.1 } } }
`

/** Counts tokens, for which a file is loaded that no door loads; without it they would be three. */
const counter = `
import { estimateTokens } from 'entia/context'

const tokens = estimateTokens('Hello world', { factor: 1 })
if (tokens !== 2) throw new Error('There are 2 tokens; the package counts ' + tokens + '.')
`

/** Runs code in a process of its own, whose program is a file that no door loads. */
const evaluator = `
import { builtinTools } from 'entia/runtime'

const [runJs] = builtinTools({ cwd: '.', tools: ['run_js'] })
const context = { signal: new AbortController().signal, key: 'key', attempt: 1, agent: 1, world: 'world' }
const { content } = await runJs.call({ code: "const { sep } = await import('node:path'); sep.length + 41" }, context)
if (content[0].text !== '42') throw new Error('run_js gives 42; it gave ' + content[0].text)
`

/**
 * That what a program loads with `entia` has nothing of the other doors: chat sessions, tools, simulator, command line. Nor
 * has `entia/runtime` anything of the doors to other protocols.
 */
const lightDoor = `
import { readFileSync } from 'node:fs'
function refuse(door, file, heavy) {
  const { sources } = JSON.parse(readFileSync('dist/parts/' + file + '.js.map', 'utf8'))
  const found = sources.filter((path) => heavy.test(path))
  if (found.length > 0) throw new Error('import ' + door + ' loads ' + found.join(', '))
}
refuse('entia', 'entia', /src\\/(cli|inspector|sim|vitest|doors\\/(mcp|matrix|postgres|dbos)|stores\\/postgres|runtime\\/(chat|config|models|policy|tools))\\//)
refuse('entia/runtime', 'entia-runtime', /src\\/(cli|inspector|sim|vitest|doors\\/(mcp|matrix|postgres|dbos)|stores\\/postgres)\\//)
`

/** That the package names the Node which this runs on as the lowest. */
const isLowest = `
const { node } = process.versions
if ('>=' + node.replace(/\\.0$/, '') !== '${manifest.engines.node}') {
  throw new Error("engines.node is '${manifest.engines.node}', and scripts/lowest-node has " + node + ': name the same one in both.')
}
`

/** By gzip. */
const maxPageBytes = 150_000

const options = {
  strict: true,
  noEmit: true,
  skipLibCheck: false,
  target: 'es2024',
  lib: ['es2024'],
  types: ['node'],
}
const byNode = { ...options, module: 'nodenext' }
/** The types of others are theirs to mend. */
const beside = { ...byNode, skipLibCheck: true }

/** Tests that use the matchers, and import doors alone. */
const matchers = 'test/vitest/matchers.test.ts'

const folder = await realpath(await mkdtemp(join(tmpdir(), `${manifest.name}-package-`)))
/** Not within the other one, where Node would go on looking for packages. */
const pnpmFolder = await realpath(await mkdtemp(join(tmpdir(), `${manifest.name}-pnpm-`)))
try {
  const tarball = await pack()
  await check('publint finds nothing to say', bin('publint'), 'run', tarball, '--strict')
  // Node 10 knows no `imports` of a manifest, and attw reports that even where it ignores Node 10. That types resolve from
  // within the package is checked by tsc below.
  const attw = ['--profile', 'esm-only', '--ignore-rules', 'internal-resolution-error', '--no-color', '--no-emoji']
  await check('the types are not wrong', bin('attw'), tarball, ...attw)
  await install(tarball)
  // Kept from reading elsewhere, so that a package which lies further up the tree is no help.
  const reach = [folder, join(root, 'node_modules')].map((path) => `--allow-fs-read=${path}`)
  await check(
    'every door can be imported, and what comes by several is the same',
    process.execPath,
    '--permission',
    ...reach,
    join(folder, 'consumer.mjs'),
  )
  await check('what entia loads is light', process.execPath, '--input-type=module', '--eval', lightDoor)
  await check('the tokenizer is found at its first use', process.execPath, join(folder, 'counter.mjs'))
  await check('code of a model runs', process.execPath, join(folder, 'evaluator.mjs'))
  await checkPage()
  const program = join(folder, 'node_modules/.bin', manifest.name)
  await check('the program tells what it can do', program, '--help')
  await check('the program knows the stored chats', program, 'sessions', 'list', '--all')
  const asked = [join(folder, 'node_modules', manifest.name, 'systems'), '--model', 'scripted', '--fast']
  await check('the program answers without a key', program, 'ask', ...asked, '--data', join(folder, 'runs'))
  await check(
    'the program simulates a story',
    program,
    'sim',
    join(folder, 'story.mjs'),
    '--seeds',
    '20',
    '--jobs',
    '2',
  )
  for (const name of ['chat-server.ts', 'mailboxes.ts']) await checkExample(name)
  await check('the lowest Node is the one that the package names', lowest, '--eval', isLowest)
  await check('the tokenizer is found on the lowest Node', lowest, join(folder, 'counter.mjs'))
  await check('code of a model runs on the lowest Node', lowest, join(folder, 'evaluator.mjs'))
  await check('every door can be imported on the lowest Node', lowest, join(folder, 'consumer.mjs'))
  await check('a world in SQLite goes on after a restart on the lowest Node', lowest, join(folder, 'smoke.mjs'))
  await checkUnderPnpm()
  await check('every door can be typed by Node', bin('tsc'), '-p', join(folder, 'tsconfig.node.json'))
  await check('matchers are there in a test', bin('tsc'), '-p', join(folder, 'tsconfig.vitest.json'))
  await checkVitest4()
  await check('every door can be typed by a bundler', bin('tsc'), '-p', join(folder, 'tsconfig.bundler.json'))
} finally {
  await rm(folder, { recursive: true })
  await rm(pnpmFolder, { recursive: true })
}

/** Gives the tarball's path. The scripts are left out: the build has been made. */
async function pack(): Promise<string> {
  const { stdout } = await run('npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', folder)
  const [packed] = JSON.parse(stdout) as readonly { readonly filename: string }[]
  if (packed === undefined) throw new Error('npm pack has packed nothing.')
  return join(folder, packed.filename)
}

/** The page of the inspector is there, whole, and small enough to be sent at once. */
async function checkPage(): Promise<void> {
  const place = join(folder, 'node_modules', manifest.name, 'dist/inspector')
  let bytes = 0
  for (const name of ['index.html', 'page.js', 'page.css']) {
    const text = await readFile(join(place, name))
    if (text.length === 0) throw new Error(`dist/inspector/${name} is empty.`)
    bytes += gzipSync(text).length
  }
  if (bytes > maxPageBytes)
    throw new Error(
      `dist/inspector must have at most ${maxPageBytes} bytes by gzip, got ${bytes}: see what the page has come to import.`,
    )
  console.log(`✓ the page of the inspector is small: ${(bytes / 1_000).toFixed(0)} kB by gzip`)
}

/** Lays out a project that has the package, its dependencies and a program; no registry is asked. */
async function install(tarball: string): Promise<void> {
  const home = join(folder, 'node_modules', manifest.name)
  await mkdir(home, { recursive: true })
  await run('tar', '-xzf', tarball, '-C', home, '--strip-components=1')
  for (const name of [...Object.keys(manifest.dependencies), ...besides, '@types/node']) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(root, 'node_modules', name), link)
  }
  await linkProgram(home)
  await copyFile(join(import.meta.dirname, 'lowest-node/smoke.mjs'), join(folder, 'smoke.mjs'))
  await copyFile(join(root, matchers), join(folder, 'matchers.test.ts'))
  const program = programOf(names)
  const own = names.filter((name) => !besides.some((peer) => name.endsWith(`/${peer}`)))
  const byBundler = { ...options, module: 'esnext', moduleResolution: 'bundler' }
  await Promise.all(
    Object.entries({
      'package.json': JSON.stringify({ type: 'module' }),
      'consumer.mjs': program,
      'story.mjs': story,
      'counter.mjs': counter,
      'evaluator.mjs': evaluator,
      'consumer.ts': programOf(own),
      'tsconfig.node.json': JSON.stringify({ compilerOptions: byNode, files: ['consumer.ts'] }),
      'tsconfig.bundler.json': JSON.stringify({ compilerOptions: byBundler, files: ['consumer.ts'] }),
      'tsconfig.vitest.json': JSON.stringify({ compilerOptions: beside, files: ['matchers.test.ts'] }),
    }).map(([name, text]) => writeFile(join(folder, name), text)),
  )
}

/** A program that imports doors, and finds that what comes by several of them is the same thing. */
function programOf(imported: readonly string[]): string {
  return [
    ...imported.map((name, index) => `import * as door${index} from '${name}'`),
    'const seen = new Map()',
    `for (const door of [${imported.map((_, index) => `door${index}`).join(', ')}]) {`,
    `  if (Object.keys(door).length === 0) throw new Error('A door exports nothing.')`,
    '  for (const [name, value] of Object.entries(door)) {',
    "    if (seen.has(name) && seen.get(name) !== value) throw new Error(name + ' is another thing by another door.')",
    '    seen.set(name, value)',
    '  }',
    '}',
  ].join('\n')
}

/** As npm does it. */
async function linkProgram(home: string): Promise<void> {
  const link = join(folder, 'node_modules/.bin', manifest.name)
  const script = join(home, manifest.bin.entia)
  await mkdir(dirname(link), { recursive: true })
  await symlink(script, link)
  await chmod(script, 0o755)
}

/** A program as a user of the package writes it, with a process that is killed and a world that goes on. */
async function checkExample(name: string): Promise<void> {
  await copyFile(join(root, 'examples', name), join(folder, name))
  const { said } = await endingOf(join('examples', name))
  tell(`${name} prints what it says`, await wrongAbout(name, said, { cwd: folder }))
}

/** A project with the vitest of before: its matchers have their types there, and match. */
async function checkVitest4(): Promise<void> {
  const project = join(folder, 'vitest-4')
  const modules = join(project, 'node_modules')
  const vitest = join(import.meta.dirname, 'vitest-4/node_modules/vitest')
  await mkdir(modules, { recursive: true })
  // A copy, since packages are looked for from where a file really lies.
  await cp(join(folder, 'node_modules', manifest.name), join(modules, manifest.name), { recursive: true })
  await symlink(vitest, join(modules, 'vitest'))
  const config = { compilerOptions: beside, files: ['matchers.test.ts'] }
  await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config))
  await copyFile(join(root, matchers), join(project, 'matchers.test.ts'))
  await check('matchers can be typed beside vitest 4', bin('tsc'), '-p', project)
  const { version } = JSON.parse(await readFile(join(vitest, 'package.json'), 'utf8')) as { readonly version: string }
  const program = join(vitest, 'vitest.mjs')
  await check(`matchers match in vitest ${version}`, process.execPath, program, 'run', '--root', project)
}

/** The README's first program, in a project where pnpm has installed what the README says, and nothing else. */
async function checkUnderPnpm(): Promise<void> {
  const project = join(pnpmFolder, 'project')
  const layout = new PnpmLayout({ store: join(pnpmFolder, 'store'), project })
  await layout.install(manifest.name, join(folder, 'node_modules', manifest.name))
  for (const name of ['zod', '@types/node']) await layout.install(name)
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const [, program, printed] = /^```ts run\n(.*?)^```\n+```text\n(.*?)^```/ms.exec(readme) ?? []
  if (program === undefined || printed === undefined) throw new Error('README.md has no program that prints something.')
  const files = { 'package.json': { type: 'module' }, 'tsconfig.json': { compilerOptions: byNode, files: ['sums.ts'] } }
  for (const [name, json] of Object.entries(files)) await writeFile(join(project, name), JSON.stringify(json))
  await writeFile(join(project, 'sums.ts'), program)
  tell("the README's program runs under pnpm", await wrongAbout('sums.ts', printed.trim(), { cwd: project }))
  await check("the README's program can be typed under pnpm", bin('tsc'), '-p', project)
}

function tell(what: string, wrong: string | undefined): void {
  if (wrong === undefined) return console.log(`✓ ${what}`)
  console.error(`✗ ${what}\n${wrong}`)
  process.exitCode = 1
}

async function check(what: string, command: string, ...parameters: readonly string[]): Promise<void> {
  try {
    await run(command, ...parameters)
    console.log(`✓ ${what}`)
  } catch (error) {
    const { stdout = '', message } = error as Error & { readonly stdout?: string }
    console.error(`✗ ${what}\n${stdout}${message}`)
    process.exitCode = 1
  }
}

function run(command: string, ...parameters: readonly string[]): Promise<{ readonly stdout: string }> {
  return promisify(execFile)(command, parameters, { cwd: root })
}
