import { z } from 'zod'
import { lazily } from '../src/world/lazily.ts'
import { DelegationLimits } from './sessions/delegation-limits.ts'
import { entity } from '../src/protocol/entity.ts'
import { SessionUsage } from './sessions/subagent-session.ts'

const id = lazily(() => z.string().min(1).optional())

/** What enters a world about sessions, by kind: what programs ask for, and what Runners of parents and children tell. */
export const sessionInputs = lazily(() => ({
  /** A program gives a task to a subagent of an agent; `session-queued` follows under its `correlationId`, or nothing. */
  delegate: z.strictObject({
    id: id(),
    kind: z.literal('delegate'),
    agent: entity(),
    category: z.string().optional(),
    correlationId: z.string().min(1),
    fork: z.literal(true).optional(),
    loadSkills: z.array(z.string()).optional(),
    notify: z.literal(false).optional(),
    prompt: z.string(),
    /** The session to go on with, by its full id; what else is asked for is then what it was. */
    resume: z.string().optional(),
    timeoutMs: z.number().positive().optional(),
  }),
  /** A program ends a session, by its full id; closed, it takes no query any more. */
  'session-cancel': z.strictObject({
    id: id(),
    kind: z.literal('session-cancel'),
    agent: entity(),
    close: z.literal(true).optional(),
    session: z.string(),
  }),
  /** A program asks a session that has succeeded a further question. */
  query: z.strictObject({
    id: id(),
    kind: z.literal('query'),
    agent: entity(),
    prompt: z.string().min(1),
    query: z.string().min(1),
    session: z.string(),
  }),
  /** A program has taken a session's result, or the reply to a query of it. */
  collected: z.strictObject({
    id: id(),
    kind: z.literal('collected'),
    agent: entity(),
    query: z.string().optional(),
    session: z.string(),
  }),
  /** To the world of a session: what its agent may spend; on a question to it, besides what it has used by now. */
  granted: z.strictObject({
    id: id(),
    kind: z.literal('granted'),
    limits: DelegationLimits.schema,
    question: z.string().optional(),
  }),
  /** To the world of a session that was cancelled or timed out: its own sessions end. */
  'session-stopped': z.strictObject({ id: id(), kind: z.literal('session-stopped'), reason: z.string() }),
  /** What a session had spent that was stopped, or has spent on a question that nobody waits for any more. */
  'session-spent': z.strictObject({
    id: id(),
    kind: z.literal('session-spent'),
    /** Of a question. */
    asker: entity().optional(),
    session: entity(),
    usage: SessionUsage(),
  }),
}))
