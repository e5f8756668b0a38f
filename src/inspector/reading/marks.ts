import type { Input, WorldEvent } from '../../world/input.ts'

/** Kinds of instants that a person looks for. */
export type MarkKind =
  | 'message'
  | 'model'
  | 'failure'
  | 'approval'
  | 'compaction'
  | 'session'
  | 'crash'
  | 'fault'
  | 'law'

/** A tick that the scrubber marks. */
export interface Mark {
  readonly tick: number
  readonly kind: MarkKind
  readonly text: string
}

const kinds: Readonly<Record<string, MarkKind>> = {
  'model-called': 'model',
  'model-failed': 'failure',
  'turn-error': 'failure',
  'output-rejected': 'failure',
  'watchdog-alerted': 'failure',
  'compaction-failed': 'failure',
  'checkpoint-failed': 'failure',
  'archive-failed': 'failure',
  'approval-requested': 'approval',
  'boundary-written': 'compaction',
  'turn-archived': 'compaction',
  'session-queued': 'session',
  'session-ended': 'session',
}

/** The marks of one tick, at most one of a kind. */
function marksOf(tick: number, inputs: readonly Input[], events: readonly WorldEvent[]): readonly Mark[] {
  const found = new Map<MarkKind, Mark>()
  const mark = (kind: MarkKind, text: string): void => {
    if (!found.has(kind)) found.set(kind, { tick, kind, text })
  }
  for (const { kind } of inputs) {
    if (kind === 'message') mark('message', 'a message')
    // The first start is where the world begins; each later one follows a stop or a crash.
    else if (kind === 'started' && tick > 1) mark('crash', 'a Runner took it up again')
  }
  for (const event of events) {
    const kind = kinds[event.type]
    if (kind !== undefined) mark(kind, event.type)
    else if (event.type === 'turn-ended' && event['failure'] !== undefined) mark('failure', 'a turn failed')
    else if (event.type === 'tool-answered' && event['isError'] === true) mark('failure', 'a tool failed')
  }
  return [...found.values()]
}

/** The marks of a tick as a journal has it: `<chain> <JSON>`. */
export function marksInLine(tick: number, line: string): readonly Mark[] {
  const { e = [], i = [] } = JSON.parse(line.slice(line.indexOf(' ') + 1)) as {
    readonly i?: readonly Input[]
    readonly e?: readonly WorldEvent[]
  }
  return marksOf(tick, i, e)
}
