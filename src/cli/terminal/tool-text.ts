import type { JsonObject } from '../../index.ts'

const nouns: Readonly<Record<string, readonly [one: string, more: string]>> = {
  list_files: ['entry', 'entries'],
  grep_files: ['match', 'matches'],
  read_file: ['line', 'lines'],
}

/** A tool call in a few words: `read_file docs/architecture.md`. */
export function callText(tool: string, input: JsonObject): string {
  const { path, pattern, glob } = input
  const inPath = isText(path) && path !== '.' ? `in ${path}` : ''
  const inGlob = isText(glob) ? `in ${globText(glob)}` : ''
  if (tool === 'grep_files' && isText(pattern)) return words(tool, pattern, inPath, inGlob)
  if (tool === 'list_files') return words(tool, isText(path) ? path : '.', isText(pattern) ? globText(pattern) : '')
  if (tool === 'read_file' && isText(path)) return words(tool, path)
  return words(tool, JSON.stringify(input))
}

/** What came of a call, in a few words: `17 matches`. What a file tool notes behind its lines says more than their number. */
export function resultText(tool: string, text: string, isError: boolean): string {
  const lines = text.split('\n')
  if (isError) return (lines[0] ?? '').replace(/^Error: /, '')
  const first = lines.findIndex((line) => /^\[.*\]$/.test(line))
  const amount = /^\[((?:no |lines \d|\d+ of \d|\d+ matches shown|empty)[^;:\]]*)/.exec(lines[first] ?? '')?.[1]
  if (amount !== undefined) return amount
  const count = first < 0 ? lines.length : first
  const [one, more] = nouns[tool] ?? ['line', 'lines']
  return `${count} ${count === 1 ? one : more}`
}

/** `{/docs,/README.md}` as `docs, README.md`. */
function globText(glob: string): string {
  return glob.replaceAll(/(?<=^|[{,])\/|[{}]/g, '').replaceAll(',', ', ')
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function words(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ')
}
