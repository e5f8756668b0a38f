import type { ToolCallBlock } from '../../protocol/message.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { DeepReadonly } from '../../world/component.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { worldDeclaration } from '../delegation/declarations.ts'
import { oncePerObject } from '../once-per.ts'
import { cutText } from '../../base/cut-text.ts'

type Tools = readonly ToolDeclaration[]

/** The tools that a model is shown: all but those that it finds by a search. */
export const shownTools = oncePerObject((tools: Tools): Tools => {
  return tools.some(({ deferred }) => deferred === true) ? tools.filter(({ deferred }) => deferred !== true) : tools
})

/**
 * Finds tools that the model is not shown. Its text names them; of those of a server, only the server.
 */
function findToolsDeclaration(deferred: Tools): ToolDeclaration {
  const servers = new Set(deferred.filter(isOfServer).map(({ name }) => name.split('__', 1)[0]))
  const names = deferred.filter((tool) => !isOfServer(tool)).map(({ name }) => name)
  const all = [...names, ...(servers.size > 0 ? [`those of ${[...servers].join(', ')}`] : [])]
  return worldDeclaration(
    'find_tools',
    `Finds tools that are not listed here, by words of what they do, and shows what they take: ${all.join(', ')}.`,
    { query: { type: 'string' } },
    ['query'],
  )
}

function isOfServer({ category }: ToolDeclaration): boolean {
  return category === 'mcp'
}

/** Calls a tool that the model is not shown. */
const callToolDeclaration: ToolDeclaration = worldDeclaration(
  'call_tool',
  'Calls a tool that find_tools finds.',
  { name: { type: 'string' }, arguments: { type: 'object' } },
  ['name', 'arguments'],
)

/**
 * The tools of an agent, with one search for all that its model is not shown, in the place of an earlier one; without a search where
 * all are shown.
 *
 * @param soon the same tools as they are about to be. @default as they are
 */
export function withSearch(tools: Tools, soon: Tools = tools): Tools {
  const others = tools.filter((tool) => !isSearch(tool))
  const deferred = soon.filter((tool) => tool.deferred === true)
  if (deferred.length === 0) return others
  const before = tools.findIndex(isSearch)
  const place = before === -1 ? others.length : before
  return [...others.slice(0, place), findToolsDeclaration(deferred), callToolDeclaration, ...others.slice(place)]
}

/** Is it one of the two tools of the search? */
export function isSearch({ name, world }: ToolDeclaration): boolean {
  return world === true && (name === 'find_tools' || name === callToolDeclaration.name)
}

/**
 * What a model's call means: `call_tool` stands for the tool that it names, so that this one is permitted, judged, run and observed.
 * Any other call means itself.
 */
export function meantCall<Call extends Pick<ToolCallBlock, 'name' | 'arguments' | 'malformed'>>(
  tools: Tools,
  call: Call,
): Call {
  if (call.name !== callToolDeclaration.name || call.malformed !== undefined) return call
  const { arguments: input, name } = call.arguments as DeepReadonly<JsonObject>
  if (!tools.some((tool) => tool.deferred === true && tool.name === name)) return call
  return { ...call, name: name as string, arguments: objectOf(input) ?? {} }
}

/** A call as a text for a model: of a tool that it is not shown, by way of `call_tool`. */
export function callText({ deferred, name }: Pick<ToolDeclaration, 'deferred' | 'name'>, input: JsonObject): string {
  const given = deferred === true ? { name, arguments: input } : input
  const written = Object.entries(given).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  return `${deferred === true ? callToolDeclaration.name : name}(${written.join(', ')})`
}

/** Some models write the arguments as a text. */
function objectOf(input: Json | undefined): JsonObject | undefined {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as JsonObject
  if (typeof input !== 'string') return undefined
  try {
    return objectOf((JSON.parse(input) as Json) ?? undefined)
  } catch {
    return undefined
  }
}

/** Tools that are shown with their arguments, and those that are named besides. */
const maxShown = 5
const maxNamed = 25
/** Characters of one tool. */
const maxToolChars = 4_000

/** What a search among tools that the model is not shown finds, for the model. */
export function foundTools(tools: Tools, query: string): string {
  const words = wordsOf(query)
  const ranked = tools
    .filter(({ deferred }) => deferred === true)
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .map(({ tool }) => tool)
  if (ranked.length === 0)
    return `No tool fits. There are: ${named(tools.filter(({ deferred }) => deferred === true))}.`
  const shown = ranked.slice(0, maxShown).map(({ description, inputSchema, name }) => {
    return cutText(`${name}\n${description}\narguments: ${JSON.stringify(inputSchema)}`, maxToolChars, ' […]')
  })
  const others = ranked.slice(maxShown)
  return [...shown, ...(others.length > 0 ? [`Others that fit: ${named(others)}.`] : [])].join('\n\n')
}

function named(tools: Tools): string {
  const names = tools.slice(0, maxNamed).map(({ name }) => name)
  const left = tools.length - names.length
  return left > 0 ? `${names.join(', ')} and ${left} more` : names.join(', ')
}

/** Words in the name count most, whole ones more than beginnings of them. */
function scoreOf(tool: ToolDeclaration, words: readonly string[]): number {
  const { all, name } = textsOf(tool)
  return words.reduce((score, word) => {
    const ofName = name.includes(word) ? 6 : name.some((part) => part.startsWith(word)) ? 3 : 0
    const ofAll = all.includes(word) ? 2 : all.some((part) => part.startsWith(word)) ? 1 : 0
    return score + ofName + ofAll
  }, 0)
}

const textsOf = oncePerObject((tool: ToolDeclaration) => {
  const properties = tool.inputSchema['properties']
  const keys = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return { name: wordsOf(tool.name), all: [...new Set(wordsOf([tool.description, ...keys].join(' ')))] }
})

function wordsOf(text: string): readonly string[] {
  const apart = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase()
  return apart.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
}
