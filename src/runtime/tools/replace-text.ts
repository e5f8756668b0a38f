import { cleanText } from '../../tools/files/clean-text.ts'
import { refusable, Refusal } from '../../tools/files/refusal.ts'
import { decodeText, encodeText } from '../../tools/files/text-encoding.ts'
import type { ToolOutput } from '../../tools/port.ts'
import { type EditedFile, editInTurn, readWhole, replaceFile } from './edited-file.ts'
import { hasReturnsOnly, withLineEnds } from './kept-form.ts'
import type { ToolSettings } from './settings.ts'

/** Which text of which file to replace. */
export interface ReplaceRequest {
  readonly path: string
  readonly old: string
  readonly new: string
  readonly all: boolean
}

/** A byte order mark that was copied along with the first line. */
const mark = /^\ufeff/

/** How many line numbers of matches an error names. */
const maxLinesNamed = 20

/** Longest time to compare two versions of a file, in milliseconds of real time. */
const maxDiffMs = 1_000

/** Does the work of `replace_in_file`. */
export function replaceText(request: ReplaceRequest, settings: ToolSettings): Promise<string | ToolOutput> {
  const { path } = request
  const replace = async ({ isNew, realPath }: EditedFile): Promise<string> => {
    if (isNew) throw Refusal.of(path, 'does not exist.')
    const before = decodeText(await readWhole(path, realPath))
    if (before === undefined) throw Refusal.of(path, 'is a binary file.')
    const isOld = hasReturnsOnly(before.text)
    const plain = (text: string) => (isOld ? text.replaceAll(/\r\n?/g, '\n') : text)
    const text = plain(before.text)
    const matches = matchesOf(text, plain(request.old.replace(mark, '')))
    checkMatches(request, text, matches)
    const changed = replaced(text, matches, plain(request.new.replace(mark, '')))
    const after = withLineEnds(before.text, changed)
    if (after === before.text)
      return `Nothing was changed: ${path} would have the same content, in the line ends that it has.`
    await replaceFile(realPath, encodeText({ ...before, text: after }), settings)
    return diffOf(path, text, changed)
  }
  return refusable(path, () => editInTurn(path, settings, replace), 'written')
}

interface Match {
  readonly start: number
  readonly end: number
}

/** Where a text stands in another; `\n` and `\r\n` match each other. */
function matchesOf(text: string, wanted: string): Match[] {
  const plain = text.replaceAll('\r\n', '\n')
  const returns: number[] = []
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) returns.push(at - returns.length)
  const plainWanted = wanted.replaceAll('\r\n', '\n')
  const matches: Match[] = []
  let passed = 0
  const original = (index: number): number => {
    while (passed < returns.length && (returns[passed] as number) < index) passed++
    return index + passed
  }
  for (let at = plain.indexOf(plainWanted); at !== -1; at = plain.indexOf(plainWanted, at + plainWanted.length))
    matches.push({ start: original(at), end: original(at + plainWanted.length) })
  return matches
}

/** @throws Refusal when there is no match, or more than the request allows */
function checkMatches({ path, all }: ReplaceRequest, text: string, matches: readonly Match[]): void {
  if (matches.length === 0) throw Refusal.of(path, 'has 0 matches for old. Read the file and copy the text exactly.')
  if (matches.length === 1 || all) return
  const lines: number[] = []
  let line = 1
  let from = 0
  for (const { start } of matches.slice(0, maxLinesNamed)) {
    for (let at = text.indexOf('\n', from); at !== -1 && at < start; at = text.indexOf('\n', at + 1)) line++
    from = start
    lines.push(line)
  }
  const more = matches.length > maxLinesNamed ? ', …' : ''
  throw Refusal.of(
    path,
    `has ${matches.length} matches for old, in lines ${lines.join(', ')}${more}. Give more of the text around it, or all=true.`,
  )
}

/** With `\n` for each line end. */
function replaced(text: string, matches: readonly Match[], replacement: string): string {
  const parts: string[] = []
  let from = 0
  for (const { start, end } of matches) {
    parts.push(text.slice(from, start), replacement)
    from = end
  }
  return [...parts, text.slice(from)].join('').replaceAll('\r\n', '\n')
}

async function diffOf(path: string, before: string, after: string): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff')
  const options = { context: 3, timeout: maxDiffMs, headerOptions: FILE_HEADERS_ONLY }
  const diff = createTwoFilesPatch(path, path, comparable(before), comparable(after), undefined, undefined, options)
  if (diff === undefined) return `Replaced in ${path}. The diff is too long to compute.`
  return diff.trimEnd()
}

function comparable(text: string): string {
  return cleanText(text.replaceAll('\r\n', '\n'))
}
