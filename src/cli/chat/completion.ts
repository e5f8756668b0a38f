import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { slashNames } from './slash-commands.ts'

const maxCandidates = 200

/** What Tab offers for a line up to the cursor: slash commands at its beginning, files behind an `@`. */
export function completion(before: string, cwd: string): readonly [candidates: readonly string[], replaced: string] {
  if (/^\/[\w-]*$/.test(before))
    return [slashNames.filter((name) => name.startsWith(before)).map((name) => `${name} `), before]
  const [, mention] = /(?:^|\s)(@\S*)$/.exec(before) ?? []
  return mention === undefined ? [[], before] : [fileMentions(mention, cwd), mention]
}

function fileMentions(mention: string, cwd: string): string[] {
  const typed = mention.slice(1)
  const folder = typed.endsWith('/') || typed === '' ? typed : dirname(typed) === '.' ? '' : `${dirname(typed)}/`
  const begin = typed.endsWith('/') || typed === '' ? '' : basename(typed)
  try {
    const entries = readdirSync(join(cwd, folder), { withFileTypes: true })
    return entries
      .filter(({ name }) => name.startsWith(begin) && (begin.startsWith('.') || !name.startsWith('.')))
      .filter(({ name }) => !/\s/.test(name))
      .map((entry) => `@${folder}${entry.name}${entry.isDirectory() ? '/' : ' '}`)
      .toSorted()
      .slice(0, maxCandidates)
  } catch {
    return []
  }
}
