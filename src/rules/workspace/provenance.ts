import { oneLine } from '../../base/one-line.ts'
import type { EntryType, WorkspaceEntryData } from '../../../components/agent/workspace-entry.ts'
import type { FileFact } from '../../protocol/file-fact.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { fingerprint } from '../../world/random.ts'
import { handleNumber, handlePattern } from '../handles/handle-name.ts'
import { readHandleName } from '../handles/handles-of.ts'
import { kindOf } from '../handles/shape-of.ts'
import { absolute, type Base, segmentsOf } from '../policy/paths.ts'
import { cutText } from '../../base/cut-text.ts'

const maxOriginChars = 200
/** Characters of a command that a key has. */
const maxCommandChars = 40
/** A longer result is never retrieved, in characters. */
const maxRetrievableChars = 50_000
/** What is kept of a result for a later turn, in characters. */
const maxTextChars = 2_000
/** Most handles that a call is taken to depend on. */
const maxDeps = 100

/** A call that has succeeded. */
export interface SettledCall {
  readonly declaration: ToolDeclaration
  readonly arguments: JsonObject
  /** As the model reads it. */
  readonly text: string
  /** From where relative paths count; absent: they are taken as they are. */
  readonly base?: Base | undefined
  /** What the tool said of files. */
  readonly files: readonly FileFact[]
  /** What its values are that are kept under handles. */
  readonly kept: readonly { readonly number: number; readonly sizeBytes: number; readonly type: EntryType }[]
}

type Provenance = Omit<WorkspaceEntryData, 'agent' | 'atMs' | 'isPinned' | 'isStale' | 'number' | 'seq' | 'turn'>

/** Does a result say something that a later turn could use? Tools that work on the world itself do not count. */
export function isEntered({ name, world }: ToolDeclaration, text: string): boolean {
  return world !== true && name !== readHandleName && !text.startsWith('Error:')
}

/**
 * Where a result is from.
 * @param turn number of the turn, for calls without a key of their own
 */
export function provenanceOf(call: SettledCall, turn: number): Provenance {
  const { declaration, files, kept, text } = call
  const given = JSON.stringify(call.arguments)
  const deps = namedHandles(given)
  const sizeBytes = kept.length > 0 ? kept.reduce((sum, one) => sum + one.sizeBytes, 0) : Buffer.byteLength(text)
  const isRetrievable = text.length <= maxRetrievableChars && sizeBytes <= maxRetrievableChars
  const named = pathsOf(call)
  const seen = files.length > 0 ? files : named.map((path) => ({ path }))
  const { operation } = declaration
  return {
    key: keyOf(call, turn),
    origin: cutText(oneLine(`${declaration.name} ${given}`), maxOriginChars, '…').toWellFormed(),
    asked: fingerprint(`${declaration.name} ${given}`),
    type: kept[0]?.type ?? typeOfText(text),
    ...(kept.length > 0 && { handles: kept.map(({ number }) => number) }),
    ...(deps.length > 0 && { deps }),
    ...(operation !== 'exec' && seen.length > 0 && { files: seen }),
    ...((operation === 'write' || operation === 'exec') && seen.length > 0 && { changed: seen }),
    sizeBytes,
    ...(isRetrievable && { text: cutText(text, maxTextChars, '…').toWellFormed() }),
  }
}

/** What a result is for. The same for the same question, asked again. */
function keyOf({ arguments: given, declaration: { name } }: SettledCall, turn: number): string {
  const argument = Object.hasOwn(keyArguments, name) ? keyArguments[name] : undefined
  const value = argument === undefined ? undefined : given[argument.from]
  if (argument === undefined || typeof value !== 'string') return `${name}:turn${turn}`
  return oneLine(`${argument.as}:${argument.as === 'bash' ? cutText(value, maxCommandChars) : value}`).toWellFormed()
}

const keyArguments: Readonly<Record<string, { readonly as: string; readonly from: string }>> = {
  read_file: { as: 'file', from: 'path' },
  write_file: { as: 'file', from: 'path' },
  replace_in_file: { as: 'file', from: 'path' },
  grep_files: { as: 'grep', from: 'pattern' },
  bash: { as: 'bash', from: 'command' },
  cmd: { as: 'bash', from: 'command' },
  web_search: { as: 'search', from: 'query' },
}

/** The files that a call is about, as its arguments name them. */
function pathsOf({ arguments: given, base, declaration }: SettledCall): readonly string[] {
  const { operation, paths = [] } = declaration
  if (operation !== 'read' && operation !== 'write') return []
  const named = paths.flatMap((name) => given[name] ?? []).filter((path) => typeof path === 'string')
  return base === undefined ? named : named.map((path) => `/${segmentsOf(absolute(path, base)).join('/')}`)
}

function namedHandles(text: string): readonly number[] {
  const numbers = new Set<number>()
  for (const [name] of text.matchAll(handlePattern)) {
    const number = handleNumber(name)
    if (number !== undefined) numbers.add(number)
    if (numbers.size === maxDeps) break
  }
  return [...numbers]
}

/** JSON that a tool gave is of its kind, all else text. */
function typeOfText(text: string): EntryType {
  if (text.length > maxRetrievableChars || !/^\s*(?:[[{\d-]|true|false)/.test(text)) return 'text'
  try {
    return kindOf(JSON.parse(text) as Json)
  } catch {
    return 'text'
  }
}
