import { describe, expect, it } from 'vitest'
import type { CallFacts, PolicyCall } from '../../../src/rules/policy/call.ts'
import { assess, policy } from '../../../src/rules/policy/policy.ts'

type Facts = Partial<CallFacts>

/** A shell command whose program runs inside, unless facts say otherwise. */
function bash(facts: Facts = {}, more: Partial<PolicyCall> = {}): PolicyCall {
  return {
    tool: 'bash',
    arguments: { command: 'make' },
    channel: 'cli',
    home: '/home/u',
    cwd: '/home/u/projects/app',
    declared: { operation: 'exec' },
    facts: { real: {}, shell: { words: [], texts: [] }, sandbox: 'inside', ...facts },
    ...more,
  }
}

const wordOf = (text: string, path: string): Facts => ({
  shell: { words: [{ text, paths: [path], meansAllBelow: false }], texts: [text] },
})

describe('a call inside of a sandbox', () => {
  it('needs no question, though it is of a dangerous tool, cannot be read, or is in a folder of no code', () => {
    const allowed = { approval: 'allow', reason: 'in the sandbox' }
    expect(policy(bash())).toMatchObject(allowed)
    expect(policy(bash(), {})).toMatchObject(allowed)
    expect(policy(bash({ shell: { words: [], texts: [], opaque: 'eval $x' } }), {})).toMatchObject(allowed)
    expect(policy(bash({}, { cwd: '/srv/data' }), {})).toMatchObject(allowed)
    expect(policy(bash({ sandbox: undefined }), {})).toMatchObject({ approval: 'ask' })
  })

  it('is still asked about, or denied, where more than that is at stake', () => {
    expect(policy(bash(wordOf('~/.ssh/id', '/home/u/.ssh/id')), {}).approval).toBe('ask')
    expect(policy(bash(wordOf('~/Documents/a', '/home/u/Documents/a')), {}).approval).toBe('ask')
    expect(policy(bash(wordOf('/srv/a', '/srv/a')), { deniedPaths: ['/srv'] }).approval).toBe('deny')
    expect(policy(bash({}, { planMode: true }), {}).approval).toBe('deny')
    expect(policy(bash({}, { sticky: true }), {}).approval).toBe('ask')
  })

  it('is judged as the configuration and the policy function say, where they say more than a question', () => {
    expect(policy(bash(), { permissions: { bash: 'ask' } }).approval).toBe('ask')
    expect(policy(bash(), { permissions: { bash: 'deny' } }).approval).toBe('deny')
    expect(policy(bash(), { approvalMode: 'deny' }).approval).toBe('deny')
    expect(policy(bash(), { approvalMode: 'ask' }).approval).toBe('allow')
    expect(policy(bash({}, { hostAnswer: { approval: 'ask' } }), {}).approval).toBe('ask')
  })

  it('is asked about on channels where others ask than the user', () => {
    for (const channel of ['matrix', 'mcp'] as const) expect(policy(bash({}, { channel }), {}).approval).toBe('ask')
  })
})

describe('a call that leaves the sandbox', () => {
  const outside = bash({ sandbox: 'outside' })

  it('is asked about each time, whatever is allowed', () => {
    const asked = { approval: 'ask', reason: 'outside of the sandbox' }
    expect(policy(outside, { permissions: { bash: 'allow' } })).toMatchObject(asked)
    expect(policy({ ...outside, hostAnswer: { approval: 'allow' } }, { approvalMode: 'allow' })).toMatchObject(asked)
    expect(assess(outside)).toMatchObject({ onlyAPerson: true, mayRemember: false })
  })

  it('is denied where it would be without a sandbox', () => {
    expect(policy(outside, { permissions: { bash: 'deny' } }).approval).toBe('deny')
    expect(policy({ ...outside, planMode: true }).approval).toBe('deny')
  })
})
