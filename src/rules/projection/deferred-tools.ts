import type { ToolCallBlock } from '../../protocol/message.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { DeepReadonly } from '../../world/component.ts'
import type { Json, JsonObject } from '../../world/json.ts'
import { worldDeclaration } from '../delegation/declarations.ts'
import { oncePerObject } from '../once-per.ts'
import { cutText } from '../text/cut-text.ts'

type Tools = readonly ToolDeclaration[]

/** The tools that a model is shown: all but those that it finds by a search. */
export const shownTools = oncePerObject((tools: Tools): Tools => {
  return tools.some(({ deferred }) => deferred === true) ? tools.filter(({ deferred }) => deferred !== true) : tools
})

/**
 * Finds tools that the model is not shown. @param sources where they come from, for the model: names of servers
 */
export function findToolsDeclaration(sources: readonly string[]): ToolDeclaration {
  return worldDeclaration(
    'find_tools',
    `You have further tools, which are not listed here: of ${sources.join(', ')}. Finds them by words of their names and ` +
      'descriptions, and shows what they take. Call them with call_tool.',
    { query: { type: 'string', description: 'A few words that say what the tool is to do, such as: create issue.' } },
    ['query'],
  )
}

/** Calls a tool that the model is not shown. */
export const callToolDeclaration: ToolDeclaration = worldDeclaration(
  'call_tool',
  'Calls a tool that find_tools has found.',
  {
    name: { type: 'string', description: 'Its name, as find_tools shows it.' },
    arguments: { type: 'object', description: 'Its arguments.' },
  },
  ['name', 'arguments'],
)

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
