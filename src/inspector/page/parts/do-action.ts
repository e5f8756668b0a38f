import { signal } from '@preact/signals'
import type { Action, ActionReply, Problem } from '../../reading/wire.ts'
import { connection, problemOf } from '../data/state.ts'

/** Why the newest action was refused. */
export const refused = signal<Problem | undefined>(undefined)

/** Does an action; what was wrong with it is shown above the view. */
export async function act(action: Action): Promise<ActionReply | undefined> {
  try {
    refused.value = undefined
    return await connection.post<ActionReply>('act', action)
  } catch (error) {
    refused.value = problemOf(error)
    return undefined
  }
}
