import { DelegationLimits } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { call, calls, stepwise, team } from './team.ts'

/** What `subagent_status` says to a lead that has so many finished sessions. */
async function overview(count: number, task = 'task'): Promise<{ session_count: number; summary_table: string }> {
  const made = team({
    agent: { messages: [] },
    parts: [DelegationLimits({ sessions: 1_000 })],
    lead: stepwise(calls(call('all', 'subagent_status'))),
  })
  await made.runner.start()
  const sessions = made.runner.subagents(made.lead)
  const tasks = Array.from({ length: count }, (_, index) => `${task} ${index + 1}`)
  await Promise.all(tasks.map((prompt) => sessions.spawn({ category: 'researcher', prompt, notify: false })))
  await made.runner.idle()
  await made.runner.message(made.lead, 'How do they stand?')
  await made.runner.idle()
  return JSON.parse(made.results()['all'] ?? '{}') as { session_count: number; summary_table: string }
}

describe('the table of sessions', () => {
  it('has a row for each under its header', async () => {
    const { session_count: count, summary_table: table } = await overview(200)
    expect(count).toBe(200)
    expect(table.split('\n')).toHaveLength(201)
    expect(table.split('\n')[0]).toBe('Session ID | Category | Status | Last Message')
  })

  it('lists the latest where there are very many, and says how many it does not', async () => {
    const { session_count: count, summary_table: table } = await overview(205)
    expect(count).toBe(205)
    expect(table.split('\n')).toHaveLength(202)
    expect(table.split('\n').at(-1)).toBe('(5 more sessions, not listed)')
  })

  it('is cut between characters', async () => {
    const { summary_table: table } = await overview(1, 'a👋'.repeat(30))
    expect(table).not.toContain('\ufffd')
    expect(table).toMatch(/ Done: (?:a👋){13}a\.\.\.$/)
  })
})
