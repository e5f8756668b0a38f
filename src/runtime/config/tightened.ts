import { contains, placesOf } from '../../tools/files/leads-to.ts'
import { isPlain } from '../../rules/config/check-settings.ts'
import { ConfigSchema } from '../../rules/config/config-schema.ts'
import { approvalOf } from '../../protocol/policy.ts'
import { policyDefaults } from '../../rules/policy/call.ts'
import { defaultLocalModels } from '../models/local-model.ts'
import { absolute } from '../../rules/policy/paths.ts'
import { pathStyle } from '../policy/real-paths.ts'
import type { RuntimeConfig } from './runtime-config.ts'

/** A project's configuration, and whom it must not loosen. */
export interface Tightening {
  readonly project: RuntimeConfig
  /** The user's own configuration. */
  readonly own: RuntimeConfig
  /** The project's folder, absolute. */
  readonly cwd: string
  /** What `~` stands for. */
  readonly home: string
}

export interface Tightened {
  readonly layer: RuntimeConfig
  /** Keys in camelCase. */
  readonly ignored: readonly string[]
}

/** Is the project's value less strict than the user's? `held` has the defaults of what the user left out. */
type IsLooser = (given: unknown, held: unknown) => boolean

/** These no project may loosen, a trusted one neither: its commands run without a question because they are held in. */
const sandboxBounds: Readonly<Record<string, IsLooser>> = {
  allowedDomains: beyond,
  sandbox: behind('require', 'auto', 'off'),
  sandboxedCommands: behind('ask', 'allow'),
}

const bounds: Readonly<Record<string, IsLooser>> = {
  ...sandboxBounds,
  approvalMode: behind('deny', 'ask', 'allow'),
  'ceilings.maxSessionCostUsd': above,
  'ceilings.maxTurnCostUsd': above,
  'ceilings.onUnpriced': behind('refuse', 'warn'),
  // A false price would bypass every ceiling.
  'context.prices': always,
  'context.smallTierParent': behind('refuse', 'warn', 'allow'),
  'context.watchdog': behind('enforce', 'feedback', 'warn', 'off'),
  'context.watchdogThreshold': above,
  // Some of Ollama's models run elsewhere.
  localModels: beyond,
  maxSteps: above,
  routing: behind('enforce', 'advisory'),
  'subagents.exposeOverMcp': behind('false', 'true'),
  'subagents.mcpSpendCapUsd': (given, held) => above(given ?? Infinity, held ?? Infinity),
  tools: beyond,
  // These reach out, or run code.
  fetch: always,
  mcp: always,
  passEnv: always,
  providers: always,
  toolPackages: always,
  trustedFolders: always,
}

/** What holds where the user's own file says nothing. */
const defaults = {
  approvalMode: policyDefaults.approvalMode,
  dangerousTools: [...policyDefaults.dangerousTools],
  localModels: [...defaultLocalModels],
  routing: policyDefaults.routing,
  allowedDomains: [],
  sandbox: 'auto',
  sandboxedCommands: 'allow',
  maxSteps: 50,
  subagents: { exposeOverMcp: false, mcpSpendCapUsd: 5 },
} satisfies RuntimeConfig

/** Lists that a project may only add to. */
const growing = ['deniedPaths', 'dangerousTools', 'personalPaths'] as const

/** The keys of a project's configuration that do not loosen the user's, and the names of the others. */
export async function tightened(given: Tightening): Promise<Tightened> {
  const { project, own } = given
  const { ceilings = {}, context = {} } = own
  const filled = ConfigSchema().parse({ ceilings, context })
  const strict: RuntimeConfig = {
    ...defaults,
    ...own,
    ceilings: filled.ceilings,
    context: filled.context,
    subagents: { ...defaults.subagents, ...own.subagents },
  }
  const looser = looserKeys(bounds, project, strict)
  const tools = loosenedTools(project, strict)
  const widened = await widenedPaths(given)
  const ignored = [...looser, ...tools.map((tool) => `permissions.${tool}`), ...widened]
  const kept = [...looser, ...widened].reduce<RuntimeConfig>((rest, key) => without(rest, key.split('.')), project)
  return { layer: grown(withoutTools(kept, tools), own), ignored: ignored.toSorted() }
}

/** What the sandbox lets through of a server is the user's to say, of the program that the user has named. */
const serverReach = ['allowedDomains', 'writePaths', 'sandbox'] as const

/** The keys of a trusted project's configuration: all but those that let more out of the sandbox than the user's own. */
export function keptInSandbox({ project, own }: Pick<Tightening, 'project' | 'own'>): Tightened {
  const looser = looserKeys(sandboxBounds, project, { ...defaults, ...own })
  const servers = Object.entries(project.mcp?.servers ?? {}).flatMap(([name, server]) => {
    const isReaching = serverReach.some((key) => own.mcp?.servers?.[name]?.[key] !== undefined)
    if (isReaching) return [['mcp', 'servers', name]]
    return serverReach.filter((key) => server[key] !== undefined).map((key) => ['mcp', 'servers', name, key])
  })
  const paths = [...looser.map((key) => [key]), ...servers]
  return {
    layer: paths.reduce<RuntimeConfig>((rest, path) => without(rest, path), project),
    ignored: paths.map((path) => path.join('.')).toSorted(),
  }
}

function looserKeys(
  limits: Readonly<Record<string, IsLooser>>,
  project: RuntimeConfig,
  held: RuntimeConfig,
): readonly string[] {
  return Object.keys(limits).filter((key) => {
    const value = valueAt(project, key.split('.'))
    return value !== undefined && limits[key]?.(value, valueAt(held, key.split('.'))) === true
  })
}

/** The user's own entry, or the list of dangerous tools, may hold a tool back more than the project's entry. */
function loosenedTools({ permissions = {} }: RuntimeConfig, held: RuntimeConfig): readonly string[] {
  const { approvalMode = 'ask', dangerousTools = [], permissions: own = {} } = held
  return Object.entries(permissions).flatMap(([tool, approval]) => {
    const entry = Object.hasOwn(own, tool) ? own[tool] : undefined
    const said = entry === undefined ? undefined : approvalOf(entry)
    const before = said ?? (dangerousTools.includes(tool) ? approvalMode : 'ask')
    // An entry waives more than the same word of `approvalMode`, and one with calls waives some.
    const isWaiving = approval === 'allow' || typeof approval === 'object'
    const isLooser = isWaiving ? said !== 'allow' : approval === 'ask' && before === 'deny'
    return isLooser ? [tool] : []
  })
}

function withoutTools(project: RuntimeConfig, tools: readonly string[]): RuntimeConfig {
  const { permissions, ...rest } = project
  if (permissions === undefined) return project
  const left = Object.entries(permissions).filter(([tool]) => !tools.includes(tool))
  return left.length === 0 ? rest : { ...rest, permissions: Object.fromEntries(left) }
}

/** Lists of paths in which one leads outside of all that the user has, as a system reads it or as programs do. */
async function widenedPaths({ project, own, cwd, home }: Tightening): Promise<readonly string[]> {
  const places = (path: string) => placesOf(absolute(path, { cwd, home, pathStyle }))
  const isWider = async (given: readonly string[], held: readonly string[]): Promise<boolean> => {
    const folders = (await Promise.all(held.map(places))).flat()
    const paths = (await Promise.all(given.map(places))).flat()
    return !paths.every((path) => folders.some((folder) => contains(folder, path)))
  }
  const ignored: string[] = []
  const { allowedPaths, codePaths } = project
  if (allowedPaths && own.allowedPaths && (await isWider(allowedPaths, own.allowedPaths))) ignored.push('allowedPaths')
  if (codePaths && (await isWider(codePaths, [...(own.codePaths ?? policyDefaults.codePaths), cwd])))
    ignored.push('codePaths')
  return ignored
}

/** The project's lists behind the user's own. */
function grown(project: RuntimeConfig, own: RuntimeConfig): RuntimeConfig {
  const lists = growing.flatMap((key) => {
    const more = project[key]
    const before = own[key] ?? (key === 'deniedPaths' ? [] : policyDefaults[key])
    return more === undefined ? [] : [[key, [...new Set([...before, ...more])]] as const]
  })
  return { ...project, ...Object.fromEntries(lists) }
}

/** Any ceiling is stricter than none. */
function above(given: unknown, held: unknown): boolean {
  return typeof given === 'number' && typeof held === 'number' && given > held
}

function always(): boolean {
  return true
}

/** @param words the strictest first */
function behind(...words: readonly string[]): IsLooser {
  return (given, held) => words.indexOf(String(given)) > words.indexOf(String(held))
}

/** A list that the user has not given holds everything. */
function beyond(given: unknown, held: unknown): boolean {
  return Array.isArray(given) && Array.isArray(held) && !given.every((name) => held.includes(name))
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, key) => (isPlain(inner) ? inner[key] : undefined), value)
}

function without<T extends object>(object: T, [key = '', ...rest]: readonly string[]): T {
  const entries = Object.entries(object).flatMap(([name, value]: [string, unknown]) => {
    if (name !== key) return [[name, value] as const]
    return rest.length === 0 || !isPlain(value) ? [] : [[name, without(value, rest)] as const]
  })
  return Object.fromEntries(entries) as T
}
