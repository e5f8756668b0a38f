import { inspectCall, policy, type PolicyCall } from 'entia/runtime'
import { median } from './measure.ts'
import type { Row } from './row.ts'

const calls = 2_000
const rounds = 7

/** Decisions of a policy a second: of plain calls, and of shell bodies that were parsed before. */
export async function measure(): Promise<Row[]> {
  const base = { channel: 'cli', home: '/home/u', cwd: '/home/u/projects/app' } as const
  const plain: PolicyCall = {
    ...base,
    tool: 'read_file',
    arguments: { path: 'src/index.ts' },
    declared: { operation: 'read', paths: ['path'] },
  }
  const shell: PolicyCall = {
    ...base,
    tool: 'bash',
    arguments: { command: 'git add -A && git commit -m "a b" && npm test -- --run a.ts' },
    declared: { operation: 'exec' },
  }
  const facts = await inspectCall(shell)
  return [
    row('decisions of a policy about plain calls', 10_000, () => policy(plain, {})),
    row('decisions of a policy about shell bodies that were read', 5_000, () => policy({ ...shell, facts }, {})),
  ]
}

function row(name: string, limit: number, decide: () => unknown): Row {
  const times: number[] = []
  for (let round = -2; round < rounds; round++) {
    const before = performance.now()
    for (let done = 0; done < calls; done++) decide()
    if (round >= 0) times.push(performance.now() - before)
  }
  return { name, value: (calls / median(times)) * 1_000, unit: '/s', limit, atLeast: true }
}
