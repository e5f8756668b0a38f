import { spawn } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { addressesIn } from '../doors/postgres/addresses.ts'
import { sqliteStore } from '../index.ts'
import { fileStem } from '../stores/file-name.ts'
import { CopyingSource, inspect, RunSource, type Source, StoreSource } from '../inspector/index.ts'
import { runFacts } from '../sim/run-facts.ts'
import { loadRun } from '../sim/recording/recording-file.ts'
import { shrink } from '../sim/shrink.ts'
import { simulate } from '../sim/simulate.ts'
import type { RunFault } from '../inspector/reading/wire.ts'
import type { Fault } from '../sim/fault.ts'
import { plainText } from '../tools/files/clean-text.ts'
import { EntiaError } from '../base/entia-error.ts'
import { tokensOf } from '../world/restore.ts'
import { didYouMean } from '../base/near-names.ts'
import { isDatabase, shownDatabase, storesAt } from './fleet/fleet-store.ts'
import { loadFleet } from './fleet/load-fleet.ts'
import type { Interruption } from './interruption.ts'
import { parsedWords, UsageError, wholeNumber } from './parsed-words.ts'
import { chosenStories, loadStories, type StoryOptions } from './sim/load-stories.ts'

const inspectHelp = `Open the inspector on saved worlds, in your browser: a page on this machine
that shows what each agent did, at every tick that was kept.

  entia inspect FOLDER [WORLD]       worlds of sqliteStore({ folder })
  entia inspect FILE.sqlite          the root world that lies in this file
  entia inspect --database URL       worlds of a fleet, in Postgres
  entia inspect fleet.ts             the same, as defineFleet names it
  entia inspect FILE                 a run that entia sim --save or
                                     saveRecording() wrote

  --out FOLDER       where copies go that are made in the page: without it,
                     none are made. What is opened is only read
  --with STORY.ts    the story of a simulated run, so that it can be shrunk
  --story NAME       one of several stories in that file
  --database URL     postgres://user:password@host:5432/name
  --schema NAME      the schema of the fleet (default: entia)
  --tick N           open at this tick (default: the newest)
  --port N           of the page on 127.0.0.1 (default: any that is free)
  --open             open the page in your browser
  --help             show this help

It prints the link of the page. Who has the link may look. Ctrl-C ends it.
Exit codes: 0 ended, 1 cannot be opened, 2 wrong arguments.
`

const options = {
  out: { type: 'string' },
  with: { type: 'string' },
  story: { type: 'string' },
  database: { type: 'string' },
  schema: { type: 'string' },
  tick: { type: 'string' },
  port: { type: 'string' },
  open: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

type Values = ReturnType<typeof parsedWords<typeof options>>['values']

export interface InspectPlace {
  readonly environment: NodeJS.ProcessEnv
  readonly cwd: string
  readonly stdout: { write(text: string): unknown }
  readonly interruption: () => Interruption
}

interface Opened {
  readonly source: Source
  /** Opened first. @default the first */
  readonly world?: string | undefined
}

/** `entia inspect`: serves until it is interrupted. Returns the exit code. @throws UsageError, and what opening throws */
export async function inspectCommand(words: readonly string[], place: InspectPlace): Promise<number> {
  const { values, positionals } = parsedWords(words, options)
  const { stdout } = place
  if (values.help === true) {
    stdout.write(inspectHelp)
    return 0
  }
  const tick = wholeNumber('--tick', values.tick, 0)
  const port = wholeNumber('--port', values.port, 0)
  if (port !== undefined && port > 65_535) throw new UsageError(`--port must be at most 65535, got ${port}.`)
  for (const name of ['out', 'with', 'database'] as const)
    if (values[name]?.trim() === '') throw new UsageError(`--${name} must not be empty.`)
  const { source, world } = await opened(positionals, values, place)
  const shown = withCopies(source, values, place)
  try {
    const at = await assertThere(shown, world, tick)
    const page = await inspect(shown, { port, actions: values.out !== undefined || source.shrink !== undefined })
    const url = page.url.replace('#', `#${at}`)
    stdout.write(`Inspecting ${plainText(source.title)}\n\n  ${url}\n\nCtrl-C ends it.\n`)
    if (values.open === true) openInBrowser(url)
    const { signal } = place.interruption()
    if (!signal.aborted) await new Promise((ended) => signal.addEventListener('abort', ended, { once: true }))
    await page.close()
    return 0
  } finally {
    await shown.close()
  }
}

async function opened(positionals: readonly string[], values: Values, place: InspectPlace): Promise<Opened> {
  const { cwd } = place
  const { database, schema } = values
  const [first, second, ...more] = positionals
  if (more.length > 0) throw new UsageError(`entia inspect takes a place and a world, got ${positionals.join(' ')}.`)
  if (database !== undefined || (first !== undefined && isDatabase(first))) {
    if (database !== undefined && second !== undefined)
      throw new UsageError(`With --database, name a world alone, got ${positionals.join(' ')}.`)
    const [given, world] = database === undefined ? [first as string, second] : [database, first]
    if (!isDatabase(given)) throw new UsageError(`--database must be postgres://…, got ${given}.`)
    const [at, ...others] = await storesAt(addressesIn(given), schema)
    if (at === undefined || others.length > 0) throw new UsageError('entia inspect looks at one database at once.')
    const { store, where } = at
    return { source: new StoreSource({ store, title: where }), world }
  }
  if (first === undefined)
    throw new UsageError(
      'entia inspect needs what to open: a folder of worlds, a saved run, or --database postgres://….',
    )
  const path = resolve(cwd, first)
  if (!existsSync(path)) throw new UsageError(`There is no file or folder ${first} here.`)
  if (schema !== undefined) throw new UsageError('--schema is for a database.')
  if (statSync(path).isDirectory()) return { source: storeSource(path, first), world: second }
  if (/\.[cm]?[jt]s$/.test(path)) return { ...(await ofFleet(first, place)), world: second }
  if (/\.(db|sqlite3?)$/.test(path)) return rootIn(path, first, second)
  return { source: await runSource(path, first, values), world: second }
}

function storeSource(folder: string, title: string, root?: string): StoreSource {
  return new StoreSource({ store: sqliteStore({ folder }), title, root })
}

/** A store of files is a folder with a database for each root world. */
async function rootIn(path: string, title: string, world: string | undefined): Promise<Opened> {
  const folder = dirname(path)
  const store = sqliteStore({ folder })
  try {
    const root = (await store.list()).find(({ name }) => fileStem(name) === basename(path).replace(/\.[^.]+$/, ''))
    if (root === undefined) {
      const advice = 'Name the folder of sqliteStore({ folder }), or a file that it has written.'
      throw new EntiaError('invalid-argument', `${title} holds no world of entia. ${advice}`, { file: title })
    }
    return { source: storeSource(folder, title, root.root ?? root.name), world: world ?? root.name }
  } finally {
    await store.close()
  }
}

async function ofFleet(file: string, { environment }: InspectPlace): Promise<Opened> {
  const fleet = await loadFleet(file, environment['DATABASE_URL'] !== undefined)
  if (fleet.stores.length > 1) {
    const what = `The fleet of ${file} has ${fleet.stores.length} databases`
    throw new UsageError(`${what}. Look at one of them: entia inspect --database postgres://….`)
  }
  return { source: new StoreSource({ store: fleet.store, title: shownDatabase(fleet.database) }) }
}

async function runSource(path: string, title: string, values: Values): Promise<Source> {
  const { recording, run } = await loadRun(path)
  const story = values.with === undefined ? undefined : await storyOf(values.with, values.story ?? run?.name)
  const source = new RunSource({
    title,
    worlds: recording.worlds,
    run: run && { ...run, canShrink: story !== undefined && run.violation !== undefined },
    components: story?.components && tokensOf(story.components),
  })
  if (story === undefined || run?.violation === undefined) return source
  const { name, seed, violation } = run
  return Object.assign(source, {
    shrink: async () => {
      const faults = run.faults.map(faultOf)
      const broken = await simulate({ ...story, seed, faults })
      const found = broken.violation?.law === violation.law ? await shrink({ ...story, seed }, broken) : undefined
      if (found === undefined) {
        const advice =
          'The story has changed since, or something in it follows neither from the seed nor from the options.'
        throw new EntiaError(
          'invalid-argument',
          `Seed ${seed} does not break the law '${violation.law}' again. ${advice}`,
        )
      }
      return { ...runFacts(found.result, { name, shrunk: found, options: Object.keys(story) }), canShrink: true }
    },
  })
}

function faultOf({ facts, name }: RunFault): Fault {
  const { at, ms } = facts
  return { what: name as Fault['what'], at: typeof at === 'string' ? at : '', ...(typeof ms === 'number' && { ms }) }
}

async function storyOf(file: string, named: string | undefined): Promise<StoryOptions> {
  const stories = await loadStories(file)
  const story = named !== undefined && stories.has(named) ? named : undefined
  const [chosen] = chosenStories(stories, { file, story, seed: 0 }).values()
  const { onTrace: _onTrace, ...rest } = chosen as StoryOptions
  return rest
}

/** Copies go to a place of their own: what is opened is only read. */
function withCopies(source: Source, { out }: Values, { cwd }: InspectPlace): Source {
  if (out === undefined) return source
  const folder = resolve(cwd, out)
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new UsageError(`--out must name a folder: ${out} is a file.`)
  if (source instanceof StoreSource && source.title !== '' && resolve(cwd, source.title) === folder)
    throw new UsageError('--out must be another folder than the one that is opened, which is only read.')
  return new CopyingSource(source, sqliteStore({ folder }))
}

/** Which world and tick the link opens. @throws `no-such-world`, `invalid-argument` for a tick beyond the end */
async function assertThere(source: Source, world: string | undefined, tick: number | undefined): Promise<string> {
  const all = await source.worlds()
  const found = world === undefined ? all[0] : all.find(({ name }) => name === world)
  if (found === undefined) {
    const advice =
      world === undefined
        ? ''
        : didYouMean(
            world,
            all.map(({ name }) => name),
          )
    const what =
      world === undefined ? `${source.title} holds no worlds.` : `There is no world '${world}' in ${source.title}.`
    throw new EntiaError('no-such-world', `${what}${advice}`, { world })
  }
  if (world === undefined && tick === undefined) return ''
  if (tick !== undefined && found.tick !== undefined && tick > found.tick) {
    const what = `World '${found.name}' has no tick ${tick}: its newest is ${found.tick}`
    throw new EntiaError('invalid-argument', `${what}. Name an earlier one with --tick.`, { world: found.name, tick })
  }
  const parts = new URLSearchParams({ world: found.name, ...(tick !== undefined && { tick: String(tick) }) })
  return `${parts.toString()}&`
}

const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', '""'],
}

/** The link is printed all the same, where there is no browser. */
function openInBrowser(url: string): void {
  const [command = 'xdg-open', ...words] = openers[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...words, url], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
