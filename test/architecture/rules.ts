import type { SourceFile } from './source-file.ts'

/** A rule of the house: the sentences it has to say about a tree of files, none if they keep it. */
export type Rule = (files: readonly SourceFile[]) => readonly string[]

/** Folders whose files are functions of their arguments and of a World, and data: what a tick is made of. */
const pureRooms: ReadonlySet<string> = new Set(['components', 'src/protocol', 'src/rules', 'systems'])

const ports = /^src\/[^/]+\/port\.ts$/
const pure = ['src/base', 'src/world', 'src/protocol', 'components', 'src/rules']
const belowTheDoor = [...pure, 'systems', 'src/models', 'src/tools', 'src/stores', 'src/engine']

interface Room {
  /** What its files may import besides each other. */
  readonly mayImport: readonly (string | RegExp)[]
  /** Packages and builtins it may import; absent: any that are not kept elsewhere. */
  readonly packages?: readonly string[]
}

/** Who may import whom. A file belongs to the longest folder that it lies in; `src` is the files right in it. */
const rooms: Readonly<Record<string, Room>> = {
  // What every room may stand on: it knows no World.
  'src/base': { mayImport: [], packages: ['zod', 'node:crypto', 'node:util'] },
  'src/world': { mayImport: ['src/base'], packages: ['bitecs', 'zod'] },
  'src/protocol': { mayImport: ['src/base', 'src/world'], packages: ['zod'] },
  components: { mayImport: ['src/base', 'src/world', 'src/protocol'], packages: ['zod'] },
  'src/rules': { mayImport: ['src/base', 'src/world', 'src/protocol', 'components', ports], packages: ['zod'] },
  systems: { mayImport: [...pure, ports], packages: ['zod'] },
  'src/models': { mayImport: [...pure, ports] },
  'src/tools': { mayImport: [...pure, ports] },
  'src/stores': { mayImport: [...pure, ports] },
  'src/stores/postgres': { mayImport: [...pure, ports, 'src/stores'] },
  // A Host knows the built-in providers by name, and prices: those files load no SDK, and no list, before the first use.
  'src/engine': {
    mayImport: [
      ...pure,
      ports,
      'src/models/prices.ts',
      'src/models/providers.ts',
      'src/models/reply-bound.ts',
      'src/stores/file-name.ts',
      'src/stores/memory.ts',
      'src/stores/record-folder.ts',
      'src/stores/records.ts',
    ],
  },
  'src/doors': { mayImport: belowTheDoor },
  // The chat on a terminal is a function of its door, too.
  'src/runtime': { mayImport: [...belowTheDoor, 'src/cli/chat/chat-command.ts'] },
  // A door with an SDK of others offers the runtime to them, or them to the runtime.
  'src/doors/mcp': { mayImport: [...belowTheDoor, 'src/runtime'] },
  'src/doors/matrix': { mayImport: [...belowTheDoor, 'src/runtime'] },
  'src/doors/postgres': { mayImport: [...belowTheDoor, 'src/stores/postgres', 'src/runtime'] },
  // A dispatcher of fleets.
  'src/doors/dbos': { mayImport: [...belowTheDoor, 'src/stores/postgres', 'src/doors/postgres'] },
  src: { mayImport: [...belowTheDoor, 'src/doors', 'src/runtime'] },
  // A run becomes a page: what the inspector reads, and the files of its page.
  'src/sim': {
    mayImport: [...belowTheDoor, 'src/doors', 'src', 'src/inspector/reading', 'src/inspector/page-files.ts'],
  },
  'src/vitest': { mayImport: [...belowTheDoor, 'src/doors', 'src', 'src/sim'] },
  // What both server and page know. Of components it knows types alone, which cost the page nothing.
  'src/inspector/reading': {
    mayImport: ['src/base', 'src/world', 'components', 'src/rules/waiting/awaited.ts'],
    packages: [],
  },
  'src/inspector/page': {
    mayImport: [
      'src/base',
      'src/world',
      'src/protocol',
      'components',
      'src/inspector/reading',
      'src/rules/projection/gaps.ts',
      'src/rules/projection/turn-places.ts',
    ],
    packages: ['@noble/hashes', '@preact/signals', 'dompurify', 'marked', 'preact', 'preact/hooks', 'zod'],
  },
  'src/inspector': { mayImport: [...belowTheDoor, 'src/runtime', 'src/inspector/reading'] },
  // The scripted model of `npm start` is an example, which is packed with the program.
  'src/cli': {
    mayImport: [
      ...belowTheDoor,
      'src/doors',
      'src/doors/matrix',
      'src/doors/mcp',
      'src/doors/postgres',
      'src/runtime',
      'src',
      'src/sim',
      'src/inspector',
      'src/inspector/reading',
      'examples/reader/reader.ts',
    ],
  },
}

/** What one pure file may do all the same, and why. */
const exceptions: Readonly<
  Record<string, { readonly packages: readonly string[]; readonly words: readonly string[] }>
> = {
  // A tick counts tokens, and cannot wait for the tokenizer, which is too large to come with a door: it is required where
  // the first token is counted, or loaded by a Runner ahead of its ticks. A count is a function of the text either way.
  'src/rules/tokens/tokenizer.ts': {
    packages: ['#o200k', 'node:module'],
    words: ['process', 'async', 'await', 'import()', 'Promise'],
  },
}

/** Packages that whole folders may import; zod may be imported anywhere, any other package in one file of ours. */
const homes: Readonly<Record<string, readonly string[]>> = {
  '@modelcontextprotocol/client': ['src/runtime'],
  '@modelcontextprotocol/node': ['src/doors/mcp'],
  '@modelcontextprotocol/server': ['src/doors/mcp'],
  '@modelcontextprotocol/server/stdio': ['src/doors/mcp'],
  '@noble/hashes': ['src/inspector/page'],
  '@preact/signals': ['src/inspector/page'],
  bitecs: ['src/world'],
  ignore: ['src/tools'],
  marked: ['src/cli', 'src/inspector/page'],
  'p-queue': ['src/engine', 'src/stores'],
  'cli-truncate': ['src/cli'],
  diff: ['src/cli', 'src/runtime'],
  preact: ['src/inspector/page'],
  // The version.
  'package.json': ['src/cli', 'src/doors/mcp'],
  'string-width': ['src/cli'],
  'wrap-ansi': ['src/cli'],
  'write-file-atomic': ['src/runtime'],
}

export const importsRunOneWay: Rule = (files) =>
  files.filter(inTheHouse).flatMap((file) => {
    const room = roomOf(file.path)
    if (room === undefined) return [`${file.path} lies in no room of the house; give its folder a line in the table`]
    const { mayImport } = ruleOf(room)
    return file.imports
      .filter(({ target }) => isFile(target) && !mayImport.some((allowed) => reaches(allowed, target)))
      .filter(({ target }) => roomOf(target) !== room)
      .map((at) => `${file.at(at)} imports ${at.target}; ${room} may import only ${list(mayImport)}`)
  })

/**
 * What a law may call, besides other laws. Of all else it knows types alone: a law that asked the rule which it judges would
 * make the rule's mistakes.
 */
const lawsMayCall = [
  /^components\//,
  /^src\/base\//,
  /^src\/protocol\//,
  /^src\/sim\/laws\//,
  // These are not asked what is right: what they make is what is judged, restored worlds and messages as they are sent.
  'src/world/inspection.ts',
  'src/world/world.ts',
  'src/models/accepted-message.ts',
]

export const lawsAreWitnesses: Rule = (files) =>
  files
    .filter(({ path }) => path.startsWith('src/sim/laws/'))
    .flatMap((file) =>
      file.imports
        .filter(({ loaded, target }) => loaded !== 'never' && !lawsMayCall.some((allowed) => isOf(allowed, target)))
        .map(
          (at) => `${file.at(at)} imports ${at.target}; a law calls components and other laws, never what it judges`,
        ),
    )

function isOf(allowed: string | RegExp, target: string): boolean {
  return typeof allowed === 'string' ? allowed === target : allowed.test(target)
}

export const packagesStayHome: Rule = (files) => {
  const house = files.filter(inTheHouse)
  const uses = house.flatMap((file) => file.imports.map((at) => ({ file, at })).filter(({ at }) => !isFile(at.target)))
  return uses.flatMap(({ file, at }) => {
    const { target } = at
    const room = roomOf(file.path) ?? ''
    const refusal = `${file.at(at)} imports ${target};`
    const { packages } = ruleOf(room)
    const excepted = exceptions[file.path]?.packages.includes(target) ?? false
    if (packages !== undefined && !packages.includes(target) && !excepted)
      return `${refusal} ${room} may import no package but ${packages.join(', ')}`
    if (target === 'zod' || target.startsWith('node:')) return []
    const home = homes[target]
    if (home !== undefined) return home.includes(room) ? [] : `${refusal} it is kept in ${home.join(' and ')}`
    const others = new Set(
      uses.filter((use) => use.at.target === target && use.file !== file).map((use) => use.file.path),
    )
    return others.size === 0
      ? []
      : `${refusal} so does ${[...others].join(', ')}: each SDK is imported in exactly one file`
  })
}

/** What comes with a door. All else, SDKs and builtins of Node alike, is loaded when it is first used. */
const loadedAtOnce = ['bitecs', 'p-queue', 'zod']

export const doorsLoadLittle: Rule = (files) => {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const loaded = new Set(
    [...byPath.keys()].filter((path) => /^((src|components|systems)\/index|src\/doors\/[^/]+)\.ts$/.test(path)),
  )
  const refusals: string[] = []
  for (const path of loaded) {
    const file = byPath.get(path)
    for (const at of file?.imports.filter((each) => each.loaded === 'at-once') ?? []) {
      if (isFile(at.target)) loaded.add(at.target)
      else if (!loadedAtOnce.includes(at.target))
        refusals.push(`${file?.at(at)} imports ${at.target}; with a door come only ${loadedAtOnce.join(', ')}`)
    }
  }
  return refusals
}

/** Packages that an application installs besides, if it uses the door that needs them. */
const optionalPeers = /^(@dbos-inc\/|@modelcontextprotocol\/|matrix-js-sdk|pg$)/

export const peersComeLate: Rule = (files) =>
  files
    .filter(inTheHouse)
    .flatMap((file) =>
      file.imports
        .filter(({ loaded, target }) => loaded === 'at-once' && optionalPeers.test(target))
        .map((at) => `${file.at(at)} imports ${at.target}; it may be missing: load it with optionalPackages`),
    )

export const noCircles: Rule = (files) => {
  const imports = new Map(files.map((file) => [file.path, file.imports.map(({ target }) => target)]))
  const done = new Set<string>()
  const circles: string[] = []
  const follow = (path: string, trail: readonly string[]): void => {
    const from = trail.indexOf(path)
    if (from !== -1)
      circles.push(`${[...trail.slice(from), path].join(' → ')}; imports run in no circle, not even of types`)
    if (from !== -1 || done.has(path)) return
    for (const target of imports.get(path) ?? []) follow(target, [...trail, path])
    done.add(path)
  }
  for (const { path } of files) follow(path, [])
  return circles
}

const noClock = 'a tick reads no clock: world.nowMs, or world.dateMs for what people read'
const noDice = 'a tick has no dice of its own: world.random() and world.newId(prefix)'
const noWait = 'a tick is one synchronous step: what takes time is an effect'
const noOutside = 'a tick sees nothing but its World'
const noLocale = 'a tick is the same on every machine: compare with < and format by hand'

/** Words that pure files do without, and why. */
const refused = new Map<string, string>([
  ...['Date', 'performance', 'Temporal'].map((word) => [word, noClock] as const),
  ...['Math', 'Math.random', 'crypto', 'randomUUID', 'randomBytes', 'randomInt'].map((word) => [word, noDice] as const),
  ...['async', 'await', 'import()', 'Promise', 'PromiseLike', '.then', 'queueMicrotask'].map(
    (word) => [word, noWait] as const,
  ),
  ...['setTimeout', 'setInterval', 'setImmediate', 'AbortSignal'].map((word) => [word, noWait] as const),
  ...['process', 'fetch', 'console', 'globalThis', 'global', 'eval', 'Function'].map(
    (word) => [word, noOutside] as const,
  ),
  ...['WeakRef', 'FinalizationRegistry'].map((word) => [word, noOutside] as const),
  ...['Intl', '.localeCompare', '.toLocaleString', '.toLocaleUpperCase', '.toLocaleLowerCase'].map(
    (word) => [word, noLocale] as const,
  ),
])

export const ticksArePure: Rule = (files) =>
  files
    .filter(({ path }) => pureRooms.has(roomOf(path) ?? ''))
    .flatMap((file) =>
      file.words
        .filter(({ word }) => refused.has(word) && exceptions[file.path]?.words.includes(word) !== true)
        .map((at) => `${file.at(at)} uses ${at.word}; ${refused.get(at.word)}`),
    )

/** The server of databases that is measured is that of the tests. */
const besideTheDoors: ReadonlySet<string> = new Set(['test/parts/postgres/server.ts'])

export const pathsStayInside: Rule = (files) =>
  files.flatMap((file) => {
    const room = ['examples', 'bench', 'test/stories'].find((folder) => file.path.startsWith(`${folder}/`))
    if (room === undefined) return []
    const byPath = file.imports.filter(
      ({ target, relative }) => relative && !target.startsWith(`${room}/`) && !besideTheDoors.has(target),
    )
    return byPath.map(
      (at) => `${file.at(at)} imports ${at.target}; ${room} imports the package by its name, never a path`,
    )
  })

/** The one file that is passed on whole: names that have moved, each of them named there with what to import instead. */
const movedNames = { by: 'src/index.ts', from: 'src/deprecated.ts' }

export const doorsNameWhatTheyExport: Rule = (files) => {
  const isMoved = ({ path, imports }: SourceFile, start: number): boolean =>
    path === movedNames.by && imports.some((at) => at.target === movedNames.from && at.start === start)
  return wordsRefused(files, 'export *', 'name what is exported', isMoved)
}

/** What lies behind a World is for `src/world` and `src/engine`; `src/world/inspection.ts` has what others read of it. */
export const coresStayInside: Rule = (files) =>
  files
    .filter((file) => inTheHouse(file) && !/^src\/(world|engine)\//.test(file.path))
    .flatMap((file) => {
      const ofZod = new Set(file.words.filter(({ word }) => word === 'z.core').map(({ start }) => start))
      return file.words
        .filter(({ word, start }) => word === '.core' && !ofZod.has(start))
        .map((at) => `${file.at(at)} reaches into a World's core; use the World, or src/world/inspection.ts`)
    })

/** What a test would measure real time with, or bound its waiting by, besides the time limit that all tests have. */
const stopwatches: ReadonlySet<string> = new Set([
  ...['AbortSignal.timeout', 'performance.now', 'process.hrtime', 'vi.waitFor', 'vi.waitUntil'],
])

/** What a simulated tool may not use, and a call that is to run out of time. */
const allowedStopwatches: Readonly<Record<string, readonly string[]>> = {
  'test/runtime/mcp/mcp-connection.test.ts': ['AbortSignal.timeout'],
  'test/sim/bad-input.test.ts': ['performance.now', 'process.hrtime'],
}

export const testsBoundNoRealTime: Rule = (files) =>
  files
    .filter(({ path }) => path.startsWith('test/') && !path.startsWith('test/parts/'))
    .flatMap((file) =>
      file.words
        .filter(({ word }) => stopwatches.has(word) && allowedStopwatches[file.path]?.includes(word) !== true)
        .map(
          (at) => `${file.at(at)} uses ${at.word}; a busy machine is slow: wait by expect.poll, or count what is done`,
        ),
    )

export const typesHoldNoHoles: Rule = (files) =>
  wordsRefused(files, 'as unknown as', 'say what the type is, or check it')

export const filesHoldOneIdea: Rule = (files) =>
  files
    .filter((file) => inTheHouse(file) && file.lineCount > 400)
    .map(({ path, lineCount }) => `${path} has ${lineCount} lines; past 400 a second idea is to move out`)

export const filesSayWhatTheyHold: Rule = (files) =>
  files
    .filter(({ path }) => /(^|\/)(utils?|helpers?|types|common|misc)(\.ts$|\/)/.test(path))
    .map(({ path }) => `${path} is named after no idea; a file is named after its one main export`)

function wordsRefused(
  files: readonly SourceFile[],
  refusedWord: string,
  advice: string,
  isAllowed: (file: SourceFile, start: number) => boolean = () => false,
): readonly string[] {
  return files
    .filter(inTheHouse)
    .flatMap((file) =>
      file.words
        .filter(({ word, start }) => word === refusedWord && !isAllowed(file, start))
        .map((at) => `${file.at(at)} says \`${refusedWord}\`; ${advice}`),
    )
}

function inTheHouse({ path }: SourceFile): boolean {
  return /^(src|components|systems)\//.test(path)
}

function isFile(target: string): boolean {
  return /\.tsx?$/.test(target)
}

/** The room that a file belongs to, or none for a folder that the table does not know. */
function roomOf(path: string): string | undefined {
  const folders = path.split('/').slice(0, -1)
  if (folders[0] !== 'src') return folders[0] !== undefined && folders[0] in rooms ? folders[0] : undefined
  const [longest, shorter] = [folders.slice(0, 3).join('/'), folders.slice(0, 2).join('/')]
  return longest in rooms ? longest : shorter in rooms ? shorter : undefined
}

function ruleOf(room: string): Room {
  return rooms[room] ?? { mayImport: [] }
}

function reaches(allowed: string | RegExp, target: string): boolean {
  if (allowed === target) return true
  return typeof allowed === 'string' ? roomOf(target) === allowed : allowed.test(target)
}

function list(allowed: readonly (string | RegExp)[]): string {
  return allowed.length === 0
    ? 'its own files'
    : allowed.map((one) => (typeof one === 'string' ? one : 'ports')).join(', ')
}
