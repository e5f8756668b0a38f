import {
  type Message,
  type ModelRequest,
  type ScriptedBehaviour,
  type ScriptedReply,
  textOf,
  type ToolCallBlock,
} from 'entia'

/** Files that are read in one turn. */
export interface Batch {
  readonly number: number
  readonly paths: readonly string[]
}

/** What the agent is asked to do with a batch. Its first line says which files it is about. */
export function batchPrompt({ number, paths }: Batch): string {
  return [`Batch ${number}: ${paths[0]} to ${paths.at(-1)}`, ...paths.map((path) => `- ${path}`)].join('\n')
}

export function questionPrompt(path: string): string {
  return `What does ${path} export first?`
}

/** More files than that are read one after the other. */
const maxAtOnce = 5
/** Every so many batches the model says that a task is done. */
const batchesPerTask = 18
const linesPerFile = 150

/**
 * A model that reads files, and says of each what it exports first. It goes by its prompt alone: of what it does not see
 * any more it asks whoever holds it.
 */
export const reader: ScriptedBehaviour = (request): ScriptedReply => {
  const asked = textOf(request.messages.at(0))
  if (asked.startsWith('Summarize the following')) return { text: summary(asked) }
  if (request.system.startsWith('You write handovers') || request.system.startsWith('You keep records')) {
    return { text: handover(asked) }
  }
  if (request.system.startsWith('You answer a request about files')) return digest(asked, request.messages)
  const turn = openTurn(request.messages)
  // In the midst of a turn a handover may stand for the message that opened it: what was asked for is in the tail then.
  const prompt = isNote(turn[0]?.content[0]) ? requestIn(request.tail) : textOf(turn[0])
  const path = /^What does (\S+) export first\?$/.exec(prompt)?.[1]
  return path === undefined ? readBatch(prompt, request, turn) : answer(path, request, turn)
}

/** The messages since a person spoke last. */
function openTurn(messages: ModelRequest['messages']): readonly Message[] {
  const all = messages.slice()
  const opening = all.findLastIndex(({ role, content }) => role === 'user' && !isNote(content[0]))
  return all.slice(Math.max(0, opening))
}

function isNote(block: Message['content'][number] | undefined): boolean {
  return block?.type === 'text' && block.text.startsWith('[')
}

function requestIn(tail: ModelRequest['tail']): string {
  return /^- request: (.*)$/m.exec(tail.map(textOf).join('\n'))?.[1] ?? ''
}

function readBatch(prompt: string, { tools }: ModelRequest, turn: readonly Message[]): ScriptedReply {
  // The record of the task stands for all of it.
  if (textOf(turn[0]).startsWith('[The prior task is complete.')) return { text: 'That was the last file of the task.' }
  const paths = [...prompt.matchAll(/(?:^|\s)- (\S+)/g)].map(([, path = '']) => path)
  const found = findingsIn(turn, paths)
  const open = paths.filter((path) => !found.has(path))
  if (open.length > 0) {
    const hasWrapper = tools.some(({ name }) => name === 'agentic_read_file')
    const call = (path: string) => (hasWrapper && isBulky(path) ? digestCall(path) : readCall(path))
    return { toolCalls: (paths.length > maxAtOnce ? open.slice(0, 1) : open).map(call) }
  }
  const number = Number(/\d+/.exec(prompt)?.[0])
  const isTold = turn.some((message) => message.role === 'tool' && message.name === 'mark_task_done')
  const canTell = tools.some(({ name }) => name === 'mark_task_done')
  if (number % batchesPerTask === 0 && canTell && !isTold) {
    const detail = `Batches ${number - batchesPerTask + 1} to ${number} are read.`
    return { toolCalls: [{ name: 'mark_task_done', arguments: { detail } }] }
  }
  return { text: paths.map((path) => found.get(path)).join('\n') }
}

/** What the turn has found out so far: in files that were read, and by what a handover says. */
function findingsIn(turn: readonly Message[], paths: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const path of paths) {
    const known = sentenceOn(path).exec(textOf(turn[0]))?.[0]
    if (known !== undefined) found.set(path, known)
  }
  const calls = turn.flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool-call' ? [block] : [])))
  for (const message of turn) {
    if (message.role !== 'tool') continue
    const path = calledFor(calls.find(({ id }) => id === message.callId)?.arguments)
    if (path !== undefined) found.set(path, finding(path, textOf(message)))
  }
  return found
}

/** The file that a call is about. */
function calledFor(input: ToolCallBlock['arguments'] = {}): string | undefined {
  const { path, request } = input
  return typeof path === 'string' ? path : /(\S+) export first/.exec(JSON.stringify(request) ?? '')?.[1]
}

/** Files of which a digest will do. */
function isBulky(path: string): boolean {
  return path.startsWith('core/')
}

function readCall(path: string) {
  return { name: 'read_file', arguments: { path, lines: linesPerFile } }
}

function digestCall(path: string) {
  return { name: 'agentic_read_file', arguments: { request: questionPrompt(path) } }
}

/** What a file exports first, out of its text or of a digest of it. */
function finding(path: string, text: string): string {
  return sentenceOn(path).exec(text)?.[0] ?? `${path} exports ${firstExport(text)}.`
}

/** In a context of its own: reads one file, and says what was asked. */
function digest(request: string, messages: ModelRequest['messages']): ScriptedReply {
  const path = /(\S+) export first/.exec(request)?.[1] ?? ''
  const result = messages.findLast(({ role }) => role === 'tool')
  return result === undefined ? { toolCalls: [readCall(path)] } : { text: finding(path, textOf(result)) }
}

/** From what it sees; or else it asks the holder of the turn in which the file was read, or searches what is folded. */
function answer(path: string, { messages, tail, tools }: ModelRequest, turn: readonly Message[]): ScriptedReply {
  const known = [...messages]
    .map((message) => sentenceOn(path).exec(textOf(message))?.[0])
    .find((found) => found !== undefined)
  if (known !== undefined) return { text: known }
  if (turn.some(({ role }) => role === 'tool')) return { text: `I cannot find ${path}.` }
  if (tools.length === 0) return { text: answerFromSeed(path, messages) }
  const holder = holderOf(path, tail.map(textOf).join('\n'))
  if (holder === undefined) return { toolCalls: [{ name: 'recall', arguments: { query: path } }] }
  return { toolCalls: [{ name: 'query_subagent', arguments: { id: holder, prompt: questionPrompt(path) } }] }
}

/** The holder whose task names a range of files with this one in it. */
function holderOf(path: string, block: string): string | undefined {
  for (const [, id, from = '', to = ''] of block.matchAll(
    /^- id: (\S+) \| task: Archive: Batch \d+: (\S+) to (\S+)/gm,
  )) {
    if (from <= path && path <= to) return id
  }
  return undefined
}

/** A holder reads calls and results as texts, in their order. */
function answerFromSeed(path: string, messages: ModelRequest['messages']): string {
  const blocks = [...messages].flatMap(({ content }) =>
    content.map((block) => (block.type === 'text' ? block.text : '')),
  )
  const calls = blocks.filter((text) => text.startsWith('[tool_use: read_file('))
  const results = blocks.filter((text) => text.startsWith('[tool_result: '))
  const index = calls.findIndex((input) => input.includes(`"${path}"`))
  return index === -1 ? `I do not hold ${path}.` : `${path} exports ${firstExport(results[index] ?? '')}.`
}

/** What was said of a file. In JSON a line break is two characters. */
function sentenceOn(path: string): RegExp {
  return new RegExp(String.raw`(?<=^|\\n|[^\w./-])${path.replaceAll('.', String.raw`\.`)} exports [\w ]+\.`)
}

function firstExport(content: string): string {
  const found =
    /export (?:declare )?(?:abstract )?(?:async )?(?:const|class|function|interface|type|namespace|let) (\w+)/.exec(
      content,
    )
  return found?.[1] ?? 'nothing by name'
}

function summary(asked: string): string {
  const paths = [...asked.matchAll(/^- (\S+)$/gm)].map(([, path = '']) => path)
  return JSON.stringify({
    outcome: `Read ${paths.length} files and noted what each exports first.`,
    key_findings: [],
    files_touched: paths,
    tools_used: ['read_file'],
    open_questions: [],
  })
}

/** A text under each heading that is asked for. In the midst of a turn it hands over what was found so far. */
function handover(asked: string): string {
  const headings = [...new Set([...asked.matchAll(/^# [A-Z][A-Za-z& ]+/gm)].map(([heading]) => heading))]
  const isMidTurn = asked.lastIndexOf('\n## tool\n') > asked.lastIndexOf('\n## assistant\n')
  const found = isMidTurn ? handedOver(asked) : []
  const texts = headings.map((heading) => `${heading}\nFiles are read batch by batch; what each exports is noted.`)
  return [[texts[0], ...found].join('\n'), ...texts.slice(1)].join('\n\n')
}

/** What an earlier handover says of files, and what those export that were read since then. */
function handedOver(asked: string): readonly string[] {
  const earlier = asked.match(/^\S+ exports [\w ]+\.$/gm) ?? []
  const paths = [...asked.matchAll(/\[tool_use: \w+\(\{[^\n]*?"path":"([^"]+)"/g)].map(([, path = '']) => path)
  const results = asked.split('\n[tool_result: ').slice(1)
  return [...new Set([...earlier, ...paths.map((path, index) => finding(path, results[index] ?? ''))])]
}
