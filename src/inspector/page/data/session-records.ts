import { computed } from '@preact/signals'
import { type SessionRecord, sessionRecord } from '../../reading/summaries.ts'
import type { WorldEntry } from '../../reading/wire.ts'
import { moment, summaries, wantSummary } from './state.ts'

/** Of worlds whose summaries are here, as of their newest ticks. */
const ofSummaries = computed(() => {
  const found = new Map<string, SessionRecord>()
  for (const summary of summaries.value.values())
    if (!('problem' in summary)) for (const record of summary.sessions) found.set(record.sessionId, record)
  return found
})

/** Of the world that is shown, as of its tick. */
const ofShown = computed(() => {
  const { world } = moment.value ?? {}
  const found = new Map<string, SessionRecord>()
  for (const session of world?.entitiesWith('SubagentSession') ?? []) {
    const record = world && sessionRecord(world, session)
    if (record !== undefined) found.set(record.sessionId, record)
  }
  return found
})

/** A session as the world that launched it knows it; `undefined`: that is not read, or it is no session. */
export function recordOf(world: string): SessionRecord | undefined {
  return ofShown.value.get(world) ?? ofSummaries.value.get(world)
}

/** Asks for what is missing to know a session by more than its id: who launched it, and what that world says of it. */
export function wantRecord({ name, parent, root }: WorldEntry): void {
  if (root === undefined || recordOf(name) !== undefined) return
  const own = summaries.value.get(name)
  if (parent === undefined && own === undefined) return wantSummary(name)
  const launchedBy = own === undefined || 'problem' in own ? undefined : own.parent
  const above = parent ?? launchedBy ?? root
  if (!summaries.value.has(above)) wantSummary(above)
}
