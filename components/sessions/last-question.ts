import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { SessionUsage } from './subagent-session.ts'

/**
 * The question that a session was asked last, of those that came after its end, and what it had used before. On the agent of
 * the session's World: one that is asked again after a crash is at the same question, with the same grant.
 */
export const LastQuestion = defineComponent('LastQuestion', () =>
  z.strictObject({ id: z.string(), usedBefore: SessionUsage() }),
)
