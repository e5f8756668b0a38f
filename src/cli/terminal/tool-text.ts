import type { JsonObject } from '../../world/json.ts'

const nouns: Readonly<Record<string, readonly [one: string, more: string]>> = {
  list_files: ['entry', 'entries'],
  grep_files: ['match', 'matches'],
  read_file: ['line', 'lines'],
}

/** A tool call in a few words: `read_file docs/architecture.md:33-56`. */
export function callText(tool: string, input: JsonObject): string {
  return `${tool} ${argumentText(tool, input)}`
}

function argumentText(tool: string, input: JsonObject): string {
  const { path, pattern, glob, from, lines } = input
  const inPath = typeof path === 'string' && path !== '.' ? ` in ${path}` : ''
  if (tool === 'grep_files') return `${pattern}${inPath}${typeof glob === 'string' ? ` in ${glob}` : ''}`
  if (tool === 'list_files') return `${path ?? '.'}${typeof pattern === 'string' ? ` ${pattern}` : ''}`
  if (tool === 'read_file' && typeof path === 'string') {
    if (typeof from !== 'number' && typeof lines !== 'number') return path
    const first = typeof from === 'number' ? from : 1
    return `${path}:${first}-${typeof lines === 'number' ? first + lines - 1 : ''}`
  }
  return JSON.stringify(input)
}

/** What came of a call, in a few words: `17 matches`. */
export function resultText(tool: string, text: string, isError: boolean): string {
  const lines = text.split('\n')
  if (isError) return (lines[0] ?? '').replace(/^Error: /, '')
  const note = /^\[(.*)\]$/.exec(lines.at(-1) ?? '')?.[1]
  if (note !== undefined) return note.split(/[;:]/)[0] ?? note
  const [one, more] = nouns[tool] ?? ['line', 'lines']
  return `${lines.length} ${lines.length === 1 ? one : more}`
}
