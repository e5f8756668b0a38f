import { allowanceEffect } from './allowance-effect.ts'
import { holderEffect, holderRemovalEffect, transcriptEffect } from './archive-effects.ts'
import type { EffectKind } from './effect-kind.ts'
import { queryEffect } from './query-effect.ts'
import { recallEffect } from './recall-effect.ts'
import { queuePositionEffect, recordEffect, slotEffect } from './session-answers.ts'
import { settlingEffect } from './settling-effect.ts'
import { sessionEffect } from './session-effect.ts'
import type { Lineage } from './lineage.ts'
import type { Sessions } from './sessions.ts'
import { subtaskEffect } from './subtask-effect.ts'

/** Kinds of effects that only the Runner of a world can do, since they are about other worlds. */
const kinds = [
  'session',
  'query',
  'record',
  'queue-position',
  'slot',
  'subtask',
  'allowance',
  'holder',
  'holder-removal',
  'transcript',
  'recall',
  'settling',
] as const
export type SessionEffectKind = (typeof kinds)[number]

export function isSessionEffect(kind: string): kind is SessionEffectKind {
  return (kinds as readonly string[]).includes(kind)
}

/**
 * How an effect is done that sessions are made of.
 *
 * @param lineage what ties the world to its parent, where it has one
 */
export function sessionKind(kind: SessionEffectKind, sessions: Sessions, lineage: Lineage | undefined): EffectKind {
  switch (kind) {
    case 'session':
      return sessionEffect(sessions) // the run of a session
    case 'query':
      return queryEffect(sessions) // a further question to one that has succeeded
    case 'record':
      return recordEffect(sessions) // a text that is read back
    case 'queue-position':
      return queuePositionEffect(sessions) // a session's place in the queue
    case 'allowance':
      return allowanceEffect(lineage?.mayCall) // leave for a call of a subtask's model
    case 'subtask':
      return subtaskEffect(sessions) // the run of a subtask
    case 'holder':
      return holderEffect(sessions) // the World of a holder is made durable
    case 'holder-removal':
      return holderRemovalEffect(sessions) // … or removed
    case 'transcript':
      return transcriptEffect(sessions) // lines are appended to transcripts
    case 'settling':
      return settlingEffect(sessions) // the World of one that has ended goes on archiving
    case 'recall':
      return recallEffect(sessions) // what an agent no longer sees of its conversation is searched
    case 'slot':
      return slotEffect(lineage?.slot) // a slot for a session that gave its own back
  }
}
