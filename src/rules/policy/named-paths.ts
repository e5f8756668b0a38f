import { bodyOf, type PolicyCall } from './call.ts'
import { absolute, type Base } from './paths.ts'
import { processPlaces } from './process-paths.ts'
import type { ShellReading } from './shell-reading.ts'

/** Most texts of a program that are taken for paths, and the longest. */
const maxPaths = 500
const maxPathChars = 4_096

/** What stands between quotes and the places of template strings, or outside of them: comments and patterns have quotes as well. */
const pieces = /[^"'`\n{}$]+/g
const isArgument = /[(,]\s*["'`]$/
const homeNames = /\bhomedir\b|\bHOME\b|\bUSERPROFILE\b|\buserInfo\b|\.home\b|\bexpanduser\b/

/** Does a program ask for the home folder? */
export function namesHome(program: string): boolean {
  return homeNames.test(program)
}

/**
 * What the strings of a program can name, absolute: from the working folder, and where the program asks for the home folder, from
 * that. A string without a slash counts only as an argument. What a program puts together from parts is not known.
 */
export function namedPaths(program: string, base: Base): readonly string[] {
  const found = new Set<string>()
  const asksForHome = namesHome(program)
  for (const { 0: piece, index } of program.matchAll(pieces)) {
    const before = program.slice(Math.max(0, index - 20), index)
    const path = piece.replaceAll('\\', base.pathStyle === 'win32' ? '/' : '')
    const isPath = path.includes('/') ? path.length <= maxPathChars : isArgument.test(before)
    if (!isPath || path.includes('\0')) continue
    found.add(absolute(path, base))
    for (const place of processPlaces(path, [base.cwd])) found.add(place)
    if (asksForHome) found.add(`${base.home}/${path}`)
    // Behind the name of a folder.
    if (path.startsWith('/')) found.add(`${base.cwd}${path}`)
    if (found.size >= maxPaths) break
  }
  return [...found]
}

/** The programs of other languages than the shell's that a call runs: its body, or those in a body of the shell. */
export function programsOf(call: PolicyCall, shell: Pick<ShellReading, 'programs'> | undefined): readonly string[] {
  const body = bodyOf(call)
  return body?.language === 'text' ? [body.text] : (shell?.programs ?? [])
}
