import { describe, expect, it } from 'vitest'
import { defineTool } from 'entia'
import { z } from 'zod'
import { slashAction, type SessionAction } from '../../../src/cli/chat/slash-actions.ts'
import { chatting } from '../../runtime/chat/chatting.ts'

describe('a slash command in a chat in which nothing was said', () => {
  it.for<[SessionAction, string]>([
    ['help', '/agents'],
    ['agents', 'script/m  waiting for you\n  no subagents'],
    ['context', 'Context-management activity:'],
    ['stats', 'Session: 0 model calls'],
    ['compact', 'Nothing was compacted: there is nothing that was not summarized before.'],
    ['done', 'No record was written: there is nothing that was not summarized before.'],
    ['permissions', 'bash: ask\n'],
    ['resume-after-cost-ceiling', 'No cost ceiling was reached: there is nothing to reset.'],
    ['resume-after-watchdog', 'The watchdog has stopped nothing: there is nothing to reset.'],
    ['shells', 'Nothing runs in the background.'],
    ['plan', 'Plan mode is on'],
    ['skills', 'The agent has no skills here.'],
    ['workspace', 'The agent keeps no results yet.'],
    ['model', 'script/m'],
  ])('says what there is: /%s', async ([name, text]) => {
    const { session } = chatting([], { policy: { permissions: { bash: 'ask' } } })
    expect(await slashAction(name, '', session)).toContain(text)
  })
})

describe('/resume-after-cost-ceiling', () => {
  it.for<[argument: string, text: string]>([
    ['2', 'The session has no ceiling that could be raised: leave the amount out.'],
    ['much', 'The amount must be US dollars above 0, such as 5, got "much".'],
    ['-1', 'The amount must be US dollars above 0, such as 5, got "-1".'],
  ])('without a ceiling says why nothing was raised: %s', async ([argument, text]) => {
    const { session } = chatting([])
    expect(await slashAction('resume-after-cost-ceiling', argument, session)).toBe(text)
  })

  it('raises the ceiling, and says what may be spent', async () => {
    const { session } = chatting([], { config: { ceilings: { maxSessionCostUsd: 1 } } })
    expect(await slashAction('resume-after-cost-ceiling', '$2', session)).toBe(
      'The session may spend $3.0000; $0.0000 of it is spent.',
    )
  })
})

describe('/permissions', () => {
  it('shows the rules that count here, what other calls of the tool get, and no rule of another folder', async () => {
    const allow = [{ command: 'npm test' }, { command: 'make', folder: '/elsewhere' }]
    const permissions = { bash: { allow, otherwise: 'ask' }, say: { allow: [{ places: [] }] } } as const
    const { session } = chatting([], { cwd: '/app', policy: { permissions } })
    const shown = await slashAction('permissions', '', session)
    expect(shown.split('\n').slice(1, -1)).toEqual([
      'bash: allow "npm test" and operands behind it, in: project, by the settings',
      'bash: ask',
      'say: allow, by the settings',
    ])
  })
})

describe('/workspace', () => {
  const numbers = defineTool({
    name: 'numbers',
    description: 'Gives numbers.',
    input: z.object({ count: z.number() }),
    restart: 'pure',
    operation: 'read',
    paths: [],
    run: ({ count }) => Array.from({ length: count }, (_, index) => index),
  })

  it('lists what the agent keeps, and pins it', async () => {
    const { session } = chatting(
      [{ toolCalls: [10, 11, 10].map((count) => ({ name: 'numbers', arguments: { count } })) }],
      { tools: [numbers] },
    )
    expect(await slashAction('workspace', '', session)).toBe('The agent keeps no results yet.')
    await session.turn('Go.')
    expect(await slashAction('workspace', '', session)).toBe(
      [
        ' ~ numbers:turn1  list, 21 bytes, turn 1: numbers {"count":10}',
        '   numbers:turn1  list, 24 bytes, turn 1: numbers {"count":11}',
        '   numbers:turn1  list, 21 bytes, turn 1: numbers {"count":10}',
        '* is pinned, ~ is out of date. /workspace pin NAME keeps one.',
      ].join('\n'),
    )
    expect(await slashAction('workspace', 'pin numbers:turn1', session)).toBe('numbers:turn1 is pinned.')
    expect((await slashAction('workspace', '', session)).split('\n')[2]).toMatch(/^\* {2}numbers:turn1/)
    expect(await slashAction('workspace', 'unpin numbers:turn1', session)).toBe('numbers:turn1 is unpinned.')
    expect(await slashAction('workspace', 'pin number:turn1', session)).toBe(
      "There is no result number:turn1. Did you mean 'numbers:turn1'?",
    )
    expect(await slashAction('workspace', 'keep', session)).toMatch(/^Write \/workspace/)
  })
})
