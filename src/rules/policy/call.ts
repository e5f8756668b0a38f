import { z } from 'zod'
import { type Channel, channels, operations, pathStyles, PolicyConfig } from '../../protocol/policy.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { DataOf } from '../../world/component.ts'
import type { Json } from '../../base/json.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { lazily } from '../../base/lazily.ts'
import { schemaIssues } from '../text/schema-issues.ts'
import type { Base } from './paths.ts'

const texts = lazily(() => z.array(z.string()).readonly())

/** A call of a tool, and all that a policy knows when it judges it. JSON, so that it can be recorded. */
export interface PolicyCall extends Base {
  readonly tool: string
  readonly arguments: Json
  readonly channel: Channel
  /** What the tool declares; an operation that it does not declare is unknown. */
  readonly declared?: Pick<ToolDeclaration, 'operation' | 'paths' | 'category'> | undefined
  /** Entia's own config folder, absolute. */
  readonly configFolder?: string | undefined
  /** Further files and folders of Entia's own with secrets or chats in them, absolute. */
  readonly ownPaths?: readonly string[] | undefined
  readonly planMode?: boolean | undefined
  /** The chat session has touched personal or credential data. */
  readonly sticky?: boolean | undefined
  /** The chat session has read data of class `other`. */
  readonly hasReadOther?: boolean | undefined
  /** What was found on the disk. Absent: paths are compared as text, and shell bodies count as not parsed. */
  readonly facts?: CallFacts | undefined
  /**
   * What the Host's policy function gave, `null` if it threw. Absent: there is none, or it gave `undefined`.
   */
  readonly hostAnswer?: Json | undefined
}

/** What was found on the disk about a call. */
export const CallFacts = lazily(() =>
  z.strictObject({
    /** Where an absolute path really leads, when that is elsewhere; the key is written with `.`, `..` and links. */
    real: z.record(z.string(), texts()).readonly(),
    /** What a shell body says. */
    shell: z
      .strictObject({
        words: z
          .array(
            z.strictObject({
              text: z.string(),
              paths: texts(),
              meansAllBelow: z.boolean(),
              isWritten: z.boolean().optional(),
              isGuess: z.boolean().optional(),
            }),
          )
          .readonly(),
        texts: texts(),
        programs: texts().optional(),
        opaque: z.string().optional(),
        command: texts().optional(),
      })
      .optional(),
    /** First names of paths in a body, outside of the working folder, that the disk does not have. */
    absent: texts().optional(),
    /** There are more paths than are looked for. */
    isTooMuch: z.literal(true).optional(),
    /** Files and folders besides its path arguments that git reads for the call, absolute, without links. */
    reads: texts().optional(),
    /** The repository that git reads runs programs by its own configuration. */
    runsPrograms: z.literal(true).optional(),
    /** Where its program runs: in a sandbox, in which it needs no question; or outside of it, as the call wants. */
    sandbox: z.enum(['inside', 'outside']).optional(),
  }),
)
export type CallFacts = DataOf<typeof CallFacts>

const Call = lazily(() =>
  z.strictObject({
    tool: z.string(),
    arguments: z.unknown(),
    channel: z.enum(channels),
    home: z.string(),
    cwd: z.string(),
    pathStyle: z.enum(pathStyles).optional(),
    declared: z
      .object({ operation: z.enum(operations).optional(), paths: texts().optional(), category: z.string().optional() })
      .optional(),
    configFolder: z.string().optional(),
    ownPaths: texts().optional(),
    planMode: z.boolean().optional(),
    sticky: z.boolean().optional(),
    hasReadOther: z.boolean().optional(),
    facts: CallFacts().optional(),
    hostAnswer: z.unknown().optional(),
  }),
)

/** Refuses what programs without types pass. @throws `invalid-argument` */
export function checkCall(where: string, call: unknown, config: unknown): void {
  refuseMisread(`${where}: call`, Call(), call)
  checkPolicyConfig(`${where}: config`, config)
}

/** @throws `invalid-argument` */
export function checkPolicyConfig(what: string, config: unknown): void {
  refuseMisread(what, PolicyConfig().optional(), config)
}

function refuseMisread(what: string, schema: z.ZodType, value: unknown): void {
  const wrong = misread(schema, value)
  if (wrong !== undefined) throw new EntiaError('invalid-argument', `${what}: ${wrong}.`)
}

function misread(schema: z.ZodType, value: unknown): string | undefined {
  try {
    const { error } = schema.safeParse(value)
    return error && schemaIssues(error)
  } catch (error) {
    // zod cannot freeze bytes.
    if (error instanceof TypeError) return error.message
    throw error
  }
}

/** What counts where a config says nothing. */
export const policyDefaults = Object.freeze({
  dangerousTools: ['bash', 'cmd', 'run_js', 'write_file', 'replace_in_file'],
  approvalMode: 'ask',
  personalPaths: ['~/Documents', '~/Downloads'],
  codePaths: ['~/projects', '~/src'],
  routing: 'advisory',
} as const)

/** Names of arguments that are paths: `filePath` and `file_path` count as `filepath`. */
const pathKeys = new Set(
  (
    'path paths file files filename filepath filepaths dir directory folder root dest destination from to src source target ' +
    'cwd oldpath newpath sourcepath targetpath destinationpath outputpath uri'
  ).split(' '),
)
/** Deepest argument that is looked for paths, where a tool declares none. */
const maxArgumentDepth = 8

/** The arguments of a call that are paths, as given: those that its tool declares, else those with usual names. */
export function pathArguments({ arguments: given, declared }: PolicyCall): readonly string[] {
  if (!isObject(given)) return []
  if (declared?.paths === undefined) return [...new Set(usualPaths(given, 0))]
  return declared.paths.flatMap((key) => textsOf(Object.hasOwn(given, key) ? given[key] : undefined))
}

function usualPaths(given: Json | undefined, depth: number): readonly string[] {
  if (depth > maxArgumentDepth) return []
  if (Array.isArray(given)) return given.flatMap((one: Json) => usualPaths(one, depth + 1))
  if (!isObject(given)) return []
  return Object.entries(given).flatMap(([key, value]) => {
    const named = pathKeys.has(key.replace(/[_-]/g, '').toLowerCase()) ? textsOf(value) : []
    return [...named.flatMap(pathIn), ...usualPaths(value, depth + 1)]
  })
}

function textsOf(value: Json | undefined): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string')
}

/** The path of a file's address; any other address is none. */
function pathIn(text: string): readonly string[] {
  const [, scheme, rest = ''] = /^([a-z][a-z\d+.-]+):\/\/(.*)$/is.exec(text) ?? []
  if (scheme === undefined) return [text]
  if (scheme.toLowerCase() !== 'file') return []
  const path = rest.replace(/^[^/]*/, '')
  try {
    return [decodeURIComponent(path)]
  } catch {
    return [path]
  }
}

function isObject(given: Json | undefined): given is Readonly<Record<string, Json>> {
  return given !== null && typeof given === 'object' && !Array.isArray(given)
}

/** The addresses among the arguments of a call. */
export function urlArguments(given: Json): readonly string[] {
  if (!isObject(given)) return []
  const { url, urls } = given
  return [url, urls].flat().filter((one) => typeof one === 'string')
}

const bodies: Readonly<Record<string, { readonly key: string; readonly language: 'bash' | 'text' }>> = {
  bash: { key: 'command', language: 'bash' },
  cmd: { key: 'command', language: 'text' },
  run_js: { key: 'code', language: 'text' },
}

/** The program that a call hands to a shell or an evaluator. A tool of another name has none. */
export function bodyOf({ tool, arguments: given }: Pick<PolicyCall, 'arguments' | 'tool'>) {
  const kind = Object.hasOwn(bodies, tool) ? bodies[tool] : undefined
  if (kind === undefined || !isObject(given)) return undefined
  const text = given[kind.key]
  return typeof text === 'string' ? { text, language: kind.language } : undefined
}
