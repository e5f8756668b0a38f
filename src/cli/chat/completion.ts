import type { MenuItem } from './menu.ts'
import { slashItems } from './slash-commands.ts'

/** What may be put in place of the end of a text up to the cursor. */
export interface Completion {
  readonly items: readonly MenuItem[]
  /** The end that an item takes the place of. */
  readonly replaced: string
}

export const maxCandidates = 200

/** What is offered for a text up to the cursor: slash commands at its beginning, files behind an `@`. */
export function completion(
  before: string,
  files: (typed: string) => readonly string[],
  more: readonly MenuItem[] = [],
): Completion {
  if (/^\/[\w:-]*$/.test(before)) {
    const wanted = before.toLowerCase()
    const items = [...slashItems, ...more].filter(({ value }) => value.startsWith(wanted))
    return { items, replaced: before }
  }
  const [, mention] = /(?:^|\s)(@\S*)$/.exec(before) ?? []
  if (mention === undefined) return { items: [], replaced: '' }
  return { items: files(mention.slice(1)).map((path) => ({ value: `@${path}` })), replaced: mention }
}
