import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Archival } from '../../components/context/archival.ts'
import { Context } from '../../components/context/context.ts'
import { Delegated } from '../../components/sessions/delegation-limits.ts'
import { Effect, Outcome, OwnedBy } from '../../components/effects/effect.ts'
import { Message } from '../../src/protocol/message.ts'
import { ModelCall } from '../../components/effects/model-call.ts'
import { Prefix } from '../../components/agent/prefix.ts'
import { TokenFactors } from '../../components/money/token-factors.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import { SubagentRegistry } from '../../components/sessions/subagent-registry.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import { Turn } from '../../components/agent/turn.ts'
import { Usage } from '../../components/money/usage.ts'
import { canonical } from '../../src/world/canonical.ts'
import { fits } from '../../src/world/fits.ts'
import type { Json } from '../../src/base/json.ts'

const session = {
  category: 'scout',
  correlationId: 'delegation-1',
  createdAtMs: 0,
  grant: { sessions: 0 },
  kind: 'named',
  mode: 'background',
  model: 'scripted/x',
  parent: 1,
  prefixHash: null,
  prompt: 'Go',
  sequence: 1,
  sessionId: 'session-1',
  status: 'queued',
  summary: true,
  updatedAtMs: 0,
  usage: { calls: 1, sessions: 0 },
}

const filledIn = z.strictObject({
  a: z.string().default('x'),
  b: z.strictObject({ c: z.number().lt(1).default(0) }).prefault({}),
})

/** Schemas of what is written at every step, with values that they accept. */
const written: readonly (readonly [string, z.ZodType, unknown])[] = [
  ['Delegated', Delegated.schema, delegated()],
  ['Effect', Effect.schema, { attempt: 1, kind: 'tool', restart: 'pure', timeoutMs: 1 }],
  ['Message', Message(), { role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  [
    'Message',
    Message(),
    { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'b', arguments: { c: 1 } }] },
  ],
  ['Message', Message(), { role: 'tool', callId: 'a', name: 'b', content: [], isError: true }],
  ['ModelCall', ModelCall.schema, { messages: 1 }],
  ['Outcome', Outcome.schema, { ok: true, value: [null] }],
  ['Outcome', Outcome.schema, { ok: false, failure: { kind: 'internal', message: 'x' } }],
  ['OwnedBy', OwnedBy.schema, { agent: 1 }],
  ['Prefix', Prefix.schema, { count: 1, llm: 1, system: 1, tools: 1 }],
  ['SubagentSession', SubagentSession.schema, session],
  ['ToolCall', ToolCall.schema, { arguments: {}, callId: 'a', name: 'b' }],
  ['Turn', Turn.schema, { startedAtMs: 0.5, steps: 1, toolCalls: 0, truncated: true }],
  ['Usage', Usage.schema, { calls: 1 }],
  ['ToolDeclaration', ToolDeclaration(), { description: '', inputSchema: {}, name: 'look_up', restart: 'pure' }],
  ['SubagentRegistry', SubagentRegistry.schema, { subagents: { scout: { name: 'scout', tools: ['look_up'] } } }],
  ['Archival', Archival.schema, Archival({ enabled: true }).initial],
  ['Context', Context.schema, Context({}).initial],
  ['TokenFactors', TokenFactors.schema, { models: { 'a/b': { calls: [[1, 2]] } } }],
  ['list of a form', z.tuple([z.string(), z.number().max(3)]), ['a', 3]],
  ['value that says what could be filled in', filledIn, { a: 'y', b: { c: 0.5 } }],
  ['list of a length', z.array(z.string()).min(1).max(2), ['a', 'b']],
  ['value with conditions', z.strictObject({ a: z.string().max(3) }).refine(({ a }) => a !== 'no'), { a: 'yes' }],
]

function delegated() {
  const spent = { spentCostNanoUsd: 0, spentSessions: 0, spentTokens: 0 }
  return { finished: 0, launched: 1, reservedCostNanoUsd: 0, reservedSessions: 0, reservedTokens: 0, ...spent }
}

function plain(value: unknown): Json {
  return canonical(value, () => 'a value')
}

/** What may stand where something else should. */
const strange = fc.constantFrom<unknown>(
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 60,
  '',
  'tool',
  'text',
  [],
  {},
  [1],
  { ok: true },
  [{}],
)

/** Values like this one, with something in it put in another's place, left out or added. */
function similarTo(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null) return fc.oneof(fc.constant(value), strange)
  if (Array.isArray(value)) return fc.tuple(...value.map(similarTo))
  const fields = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, similarTo(item)]))
  const more = fc.dictionary(fc.constantFrom('more', 'grant', 'malformed', 'name'), strange, { maxKeys: 1 })
  return fc.tuple(fc.record(fields, { requiredKeys: [] }), more).map(([own, added]) => ({ ...own, ...added }))
}

describe('the quick look at a value', () => {
  it.for(written)('finds that a %s is one', ([, schema, value]) => {
    expect(fits(schema, plain(value))).toBe(true)
  })

  it.for(written)('never finds a %s where zod finds none, or another one', ([, schema, value]) => {
    fc.assert(
      fc.property(
        fc.oneof(
          similarTo(value),
          fc.json().map((text) => JSON.parse(text) as unknown),
        ),
        (similar) => {
          const stored = plain(similar)
          const { success, data } = schema.safeParse(stored)
          return !fits(schema, stored) || (success && isDeepStrictEqual(data, stored))
        },
      ),
      { numRuns: 300 },
    )
  })

  it.for<[string, z.ZodType, Json]>([
    ['has conditions that are not known', z.strictObject({ a: z.string().startsWith('x') }), { a: 'x' }],
    ['has a pattern that remembers where it was', z.strictObject({ a: z.string().regex(/x/g) }), { a: 'x' }],
    [
      'has a condition that tells more than yes or no',
      z.strictObject({ a: z.string() }).superRefine(() => {}),
      { a: 'x' },
    ],
    ['fills in what is absent', z.strictObject({ a: z.string().default('x') }), {}],
    ['fills in a part that is absent', z.strictObject({ a: z.strictObject({}).prefault({}) }), {}],
    ['takes a list of any length', z.tuple([z.string()]).rest(z.number()), ['x', 1]],
    ['leaves out what is not named', z.object({ a: z.string() }), { a: 'x' }],
    ['changes what comes', z.strictObject({ a: z.string().transform(Number) }), { a: 'x' }],
    ['takes one thing for another', z.strictObject({ a: z.coerce.number() }), { a: 1 }],
    ['has a form of text', z.strictObject({ a: z.email() }), { a: 'a@example.org' }],
    ['is one of several, of which one is not known', z.union([z.string(), z.date()]), 'x'],
    ['has keys of a form', z.record(z.string().startsWith('a'), z.number()), { a: 1 }],
  ])('leaves it to zod when a schema %s', ([, schema, value]) => {
    expect(schema.safeParse(value).success).toBe(true)
    expect(fits(schema, plain(value))).toBe(false)
  })

  it.for<[string, z.ZodType, Json]>([
    ['a key too many', z.strictObject({ a: z.string().optional() }), { b: 'x' }],
    ['a key that is wanting', z.strictObject({ a: z.any() }), {}],
    ['a list for an object', z.strictObject({}), []],
    ['a list for a record', z.record(z.string(), z.number()), []],
    ['a number with a fraction', z.number().int(), 1.5],
    ['a number at a bound that is left out', z.number().positive(), 0],
    ['nothing for something', z.string().optional(), null],
    ['too short a text', z.string().min(2), 'a'],
    ['too long a list', z.array(z.any()).max(1), [1, 2]],
    ['a text of another form', z.string().regex(/^a/), 'b'],
    ['what a condition is against', z.strictObject({ a: z.string() }).refine(({ a }) => a !== 'b'), { a: 'b' }],
    ['a choice of none', z.discriminatedUnion('a', [z.strictObject({ a: z.literal('b') })]), { a: 'c' }],
  ])('does not take %s', ([, schema, value]) => {
    expect(fits(schema, plain(value))).toBe(false)
    expect(schema.safeParse(value).success).toBe(false)
  })
})
