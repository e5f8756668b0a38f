import { expect } from 'vitest'
import { ask, type AskEnd } from '../../src/cli/ask.ts'
import { askArguments } from '../../src/cli/ask-arguments.ts'
import { readConfig } from '../../src/doors/context.ts'
import type { AskEvent } from '../../src/cli/ask-event.ts'

/** What a command line does, in this process and without pauses: its events and its end. */
export async function asking(
  ...words: readonly string[]
): Promise<{ readonly events: AskEvent[]; readonly end: AskEnd }> {
  const events: AskEvent[] = []
  const view = { tell: (event: AskEvent) => void events.push(event), close: () => undefined }
  const outside = {
    environment: {},
    signal: new AbortController().signal,
    resumeBy: 'entia --resume',
    isInteractive: false,
    notices: { write: () => true },
  }
  const args = askArguments([...words, '--fast'])
  const end = await ask({ ...args, config: readConfig(args.flags), ...outside }, view)
  return { events, end }
}

export function only<T extends AskEvent['type']>(type: T, events: readonly AskEvent[]) {
  return events.filter((event): event is Extract<AskEvent, { readonly type: T }> => event.type === type)
}

/** The answer of a run that ended well. */
export function answerOf(events: readonly AskEvent[]): string {
  const last = events.at(-1)
  expect(last).toMatchObject({ type: 'run-ended', stop: 'done' })
  return last?.type === 'run-ended' ? last.answer : ''
}
