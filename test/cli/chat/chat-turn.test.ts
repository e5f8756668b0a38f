import type { ToolCallEvent } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { showCall } from '../../../src/cli/chat/chat-turn.ts'
import { TypedChat } from './typed-chat.ts'

function event(result: string, told: Partial<ToolCallEvent> = {}): ToolCallEvent {
  return {
    call: {
      id: 'call-1',
      tool: 'bash',
      arguments: { command: 'npm test' },
      channel: 'cli',
      paths: [],
      urls: [],
      dataClass: 'code',
      operation: 'exec',
    },
    decision: { model: 'cloud', approval: 'ask', reason: 'configured: bash' },
    outcome: 'ran',
    result,
    success: false,
    elapsedMs: 1,
    callNumber: 1,
    ...told,
  }
}

async function shown(given: ToolCallEvent): Promise<string> {
  const chat = new TypedChat({ columns: 80 })
  await showCall(given, chat.ui)
  await chat.screen.until(/\n\n›$/)
  return chat.screen.text.replace(/\n\n›$/, '')
}

describe('a call that has ended', () => {
  it('that failed shows the end of what it printed, where a command says why', async () => {
    const result = `${'noise\n'.repeat(50)}\n1 test failed\n  expected 2\n\n[exit 1]\n`
    expect(await shown(event(result))).toBe(
      '  [bash] npm test (55 lines) (error)\n    1 test failed\n    expected 2\n    [exit 1]',
    )
  })

  it('that was refused by its tool shows the first sentence, which says why', async () => {
    const result = 'Error: notes.md was not found.\nFiles beside it: a.md\nb.md\nc.md'
    expect(await shown(event(result))).toBe('  [bash] npm test (4 lines) (error)\n    Error: notes.md was not found.')
  })

  it('that went well shows nothing of its result', async () => {
    expect(await shown(event('noise\nmore\n', { success: true }))).toBe('  [bash] npm test (2 lines)')
  })

  it('that did not run says why in plain words', async () => {
    expect(await shown(event('[declined]', { outcome: 'declined' }))).toBe(
      '  [bash] npm test declined: by the settings for bash',
    )
  })
})
