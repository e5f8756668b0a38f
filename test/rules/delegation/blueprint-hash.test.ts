import { describe, expect, it } from 'vitest'
import { canonical } from '../../../src/world/canonical.ts'
import { blueprintHash, declarationHash } from '../../../src/rules/delegation/hashes.ts'
import { blueprintOf, tool } from './blueprints.ts'

const plain = blueprintOf({ tools: [tool('a'), tool('b')] }, { inheritancePolicy: { inheritTools: ['a', 'b'] } })

function kept<T>(value: T): T {
  return canonical(value, () => 'A value') as T
}

describe('the hash of a blueprint', () => {
  it('is the same for the same data, stored or not, whatever the order of its keys', () => {
    const hash = blueprintHash(plain)
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(blueprintHash(kept(plain))).toBe(hash)
    expect(blueprintHash(kept(plain))).toBe(hash)
    const turned = Object.fromEntries(Object.entries(plain).toReversed()) as typeof plain
    expect(blueprintHash({ ...turned, ending: undefined })).toBe(hash)
    const [a, b] = plain.tools.map((each) => Object.fromEntries(Object.entries(each).toReversed()) as typeof each)
    expect(blueprintHash({ ...plain, tools: [a, b].filter((each) => each !== undefined) })).toBe(hash)
  })

  it('is another one for any other data', () => {
    const others = [
      plain,
      { ...plain, ending: 'Bye' },
      { ...plain, template: `${plain.template} ` },
      { ...plain, tools: plain.tools.toReversed() },
      { ...plain, tools: [] },
      { ...plain, tools: [tool('a'), tool('b', 'Other.')] },
      { ...plain, llm: { ...plain.llm, temperature: 0 } },
      { ...plain, maxSteps: 11 },
      { ...plain, hostTools: ['a', 'b'] },
      { ...plain, hostTools: ['a,b'] },
      { ...plain, hostTools: ['a","b'] },
      { ...plain, hostSkills: ['a', 'b'] },
      { ...plain, skills: [{ name: 'a' }] },
      { ...plain, permissions: { denied: ['a'] } },
      { ...plain, permissions: { allowed: ['a'] } },
      { ...plain, limits: {} },
      { ...plain, ceiling: { allowed: [] } },
      { ...plain, registry: { subagents: {} } },
      { ...plain, registry: { subagents: { a: { name: 'a' } } } },
    ]
    expect(new Set(others.map(blueprintHash)).size).toBe(others.length)
  })

  it('sees a change in what is not stored yet', () => {
    const inputSchema = { type: 'object' }
    const loose = { ...plain, tools: [tool('a', 'A.', { inputSchema })] }
    const hash = blueprintHash(loose)
    inputSchema.type = 'string'
    expect(blueprintHash(loose)).not.toBe(hash)
  })

  it('reads large parts once: 20,000 launches end before the test times out', () => {
    const tools = Array.from({ length: 6 }, (_, index) => kept(tool(`t${index}`, 'A word. '.repeat(12_500))))
    const registry = kept({ subagents: { poet: { name: 'poet', description: 'A word. '.repeat(12_500) } } })
    const hashes = new Set<string>()
    for (let launch = 0; launch < 20_000; launch++) {
      hashes.add(blueprintHash({ ...plain, tools: [...tools], registry }))
    }
    expect(hashes.size).toBe(1)
  })
})

describe('the hash of a declaration', () => {
  it('is a number of 31 bits, the same in the World and out of it', () => {
    const hash = declarationHash(tool('a'))
    expect(hash).toBeLessThan(2 ** 31)
    expect(Number.isInteger(hash)).toBe(true)
    expect(declarationHash(kept(tool('a')))).toBe(hash)
    const { restart, ...rest } = tool('a')
    expect(declarationHash({ restart, ...rest })).toBe(hash)
    expect(declarationHash(tool('a', 'Other.'))).not.toBe(hash)
    expect(declarationHash(tool('b'))).not.toBe(hash)
  })
})
