import type { LogEdit } from './changes.ts'
import type { EditedPart } from './component.ts'
import type { Json } from '../base/json.ts'

/** Changes before a log's end; `undefined` for appends and equal items. */
export function editedPart(log: readonly Json[], [from, deleteCount, items]: LogEdit): EditedPart | undefined {
  const shared = Math.min(deleteCount, items.length)
  let head = 0
  while (head < shared && isSame(log[from + head], items[head])) head++
  let tail = 0
  while (tail < shared - head && isSame(log[from + deleteCount - 1 - tail], items[items.length - 1 - tail])) tail++
  const [inserted, removed] = [items.length - head - tail, deleteCount - head - tail]
  if (from + head >= log.length || inserted + removed === 0) return undefined
  return { from: from + head, inserted, removed }
}

/** One edit that covers two in succession. */
export function joined(first: EditedPart, next: EditedPart): EditedPart {
  const from = Math.min(first.from, next.from)
  // Of the log between the two.
  const length = Math.max(first.from + first.inserted, next.from + next.removed) - from
  return {
    from,
    inserted: length - next.removed + next.inserted,
    removed: length - first.inserted + first.removed,
  }
}

/** By content: object identity is not part of the state. */
function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
