import { computed, signal } from '@preact/signals'
import type { ActionReply, Problem } from '../../reading/wire.ts'
import type { InboxQuery, InboxReply, OpenQuestion } from '../../reading/wire-of-many.ts'
import { ProblemError } from './connection.ts'
import { Followed } from './followed.ts'
import { connection, problemOf } from './state.ts'

/** What people are asked: read when worlds have moved, whichever view is open, since its count stands beside the views. */
export const inbox = new Followed<InboxReply>('inbox', () => ({}), 300)
inbox.follow()

/** Answered by this page, and not gone from the source yet. */
const answered = signal<ReadonlySet<string>>(new Set())

export const questions = computed((): readonly OpenQuestion[] => {
  const gone = answered.value
  return inbox.reply.value?.questions.filter(({ approval }) => !gone.has(approval)) ?? []
})

/** Arguments that were too long for the list. */
export async function whole(approval: string): Promise<OpenQuestion | undefined> {
  const { questions: found } = await connection.get<InboxReply>('inbox', { approval } satisfies InboxQuery)
  return found[0]
}

/** Answers them all. Returns why that could not be done. */
export async function answer(
  asked: readonly OpenQuestion[],
  approved: boolean,
  reason: string,
): Promise<Problem | undefined> {
  const said = reason.trim()
  const answers = asked.map(({ approval, world }) => ({
    world,
    approval,
    approved,
    ...(said !== '' && { reason: said }),
  }))
  answered.value = new Set([...answered.value, ...answers.map(({ approval }) => approval)])
  try {
    const reply = await connection.post<ActionReply>('act', { do: 'answer', answers })
    if (reply.ok) return undefined
    throw new ProblemError(reply.problem)
  } catch (error) {
    const asAnswered = new Set(answered.value)
    for (const { approval } of answers) asAnswered.delete(approval)
    answered.value = asAnswered
    return problemOf(error)
  } finally {
    inbox.soon()
  }
}
