import { cutText } from '../rules/text/cut-text.ts'

const maxChars = 60

/** What people call a session by: the places that it is to look into, or else how its task begins. */
export function sessionName(task: string): string {
  const places = [...task.matchAll(/^Look only in: *(\S.*)$/gm)].at(-1)?.[1]
  const name = (places ?? task.trim().split('\n', 1)[0] ?? '').trim()
  return cutText(name, maxChars, '…')
}
