import { homedir } from 'node:os'
import { inspectCall, policy, type PolicyCall } from 'entia/runtime'
import { median } from './measure.ts'
import type { Row } from './row.ts'

const calls = 1_000
const rounds = 9
const command = 'git add -A && git commit -m "a b" && npm test -- --run a.ts'

/** Decisions of a policy about plain calls and shell bodies; alone, and with all that is read and looked up before. */
export async function measure(): Promise<Row[]> {
  const base = { channel: 'cli', home: homedir(), cwd: process.cwd() } as const
  const plain: PolicyCall = {
    ...base,
    tool: 'read_file',
    arguments: { path: 'README.md' },
    declared: { operation: 'read', paths: ['path'] },
  }
  const shell: PolicyCall = { ...base, tool: 'bash', arguments: { command }, declared: { operation: 'exec' } }
  const facts = await inspectCall(shell)
  return [
    await row('decisions of a policy about plain calls', () => policy(plain, {}), 10_000),
    await row('decisions of a policy about shell bodies that were read', () => policy({ ...shell, facts }, {}), 5_000),
    await row('plain calls, their paths looked up, and decided about', () => inspected(plain)),
    await row('shell bodies read, their paths looked up, and decided about', () => inspected(shell)),
  ]
}

async function inspected(call: PolicyCall): Promise<void> {
  policy({ ...call, facts: await inspectCall(call) }, {})
}

/** By CPU time, since other work on the machine is no cost of a decision. */
async function row(name: string, decide: () => unknown, limit?: number): Promise<Row> {
  const seconds: number[] = []
  for (let round = -3; round < rounds; round++) {
    const before = process.cpuUsage()
    for (let done = 0; done < calls; done++) await decide()
    const { system, user } = process.cpuUsage(before)
    if (round >= 0) seconds.push((user + system) / 1e6)
  }
  const value = calls / median(seconds)
  return { name, value, unit: '/CPU s', ...(limit !== undefined && { limit, atLeast: true }) }
}
