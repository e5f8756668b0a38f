import { agent, EntiaError, World } from 'entia'
import * as components from 'entia/components'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { breaks, broken, jsonText, type Parsed } from './broken-json.ts'
import { fuzz, fuzzTimeoutMs, outcomeOf } from './cases.ts'

const { Conversation, Llm, Permissions, SubagentRegistry, SystemPrompt } = components
const parts = agent({ model: 'script/x', system: 'Be brief.' })
const valueOf = (token: object) =>
  parts.flatMap((part) => ('initial' in part && part.token === token ? [part.initial] : []))[0] as Parsed

/** How a component is made of any value, and a value that it takes. */
const makers = [
  [Conversation, [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }]],
  [SubagentRegistry, { subagents: { scout: { name: 'scout', tools: ['look'] } } }],
  [Permissions, { allowed: ['look'], denied: ['leap'] }],
  [Llm, valueOf(Llm)],
  [SystemPrompt, valueOf(SystemPrompt)],
] as const

describe('a component', () => {
  it('keeps any value over a restore, or says what is wrong with it', { timeout: fuzzTimeoutMs }, async () => {
    await fuzz(fc.tuple(fc.constantFrom(...makers.keys()), breaks), async ([index, wrong]) => {
      const [token, plain] = makers[index] as (typeof makers)[number]
      const value = JSON.parse(jsonText(broken(plain as Parsed, wrong))) as never
      const world = new World({ name: 'values' })
      const outcome = await outcomeOf(() => world.spawn(token(value)))
      expect(outcome instanceof EntiaError ? outcome.message : token.name).toContain(token.name)
      const lines = [...world.snapshot()]
      expect([...World.restore(lines, { components }).snapshot()]).toEqual(lines)
    })
  })
})
