import { describe, expect, it } from 'vitest'
import { defineTool } from 'entia'
import { z } from 'zod'
import { slashAction } from '../../../src/cli/chat/slash-actions.ts'
import { chatting } from '../../runtime/chat/chatting.ts'

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
