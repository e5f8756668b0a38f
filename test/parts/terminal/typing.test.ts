import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startAnthropicServer } from '../../servers/anthropic-server.ts'
import { inTurn, type LoopbackServer } from '../../servers/loopback.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { ChatTerminal, type ChatTerminalOptions } from './chat-terminal.ts'

/** A chat with a model that answers all messages, and what a request of it said last. */
async function openChat(options: Partial<ChatTerminalOptions> = {}) {
  const reply = { text: 'Fine.', usage: { input: 1, output: 1 } }
  const server = await startAnthropicServer(inTurn(...Array.from({ length: 10 }, () => reply)))
  onTestFinished(() => server.close())
  const folder = await tempFolder()
  const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'key', NO_PROXY: '*' }
  const terminal = new ChatTerminal([], { in: folder, env, ...options })
  await terminal.until(/^›$/m)
  return { server, terminal }
}

function said({ requests }: LoopbackServer): string | undefined {
  const messages = requests.at(-1)?.body['messages'] as { role: string; content: string | { text: string }[] }[]
  const content = messages.findLast(({ role }) => role === 'user')?.content
  return typeof content === 'string' ? content : content?.[0]?.text
}

describe('what is typed on a terminal', () => {
  it('reaches the model as it was pasted, with tabs, icons and line breaks of any kind', async () => {
    const { server, terminal } = await openChat()
    const texts = ['all:\n\tcc x.c\n\n\nend  ', 'icon \ue000 one\u2028two 👩‍👩‍👧', `${'\tlong\tline\n'.repeat(2_000)}end`]
    for (const [index, text] of texts.entries()) {
      terminal.type(`\u001b[200~${text.replaceAll('\n', '\r')}\u001b[201~`)
      terminal.type('\r')
      await vi.waitUntil(() => server.requests.length > index, { timeout: 30_000 })
      expect(said(server)).toBe(text)
      await terminal.until(/\n\n›$/)
    }
  })

  it('is one message where lines arrive at once, in reads of any size', async () => {
    const { server, terminal } = await openChat()
    const text = Array.from({ length: 400 }, (_, index) => `\tat line ${index} of the trace`).join('\n')
    terminal.type(text.replaceAll('\n', '\r'))
    await terminal.until('[pasted')
    terminal.type(' Why?\r')
    await vi.waitUntil(() => server.requests.length > 0, { timeout: 30_000 })
    await terminal.until(/\n\n›$/)
    expect(said(server)).toBe(`${text} Why?`)
    expect(server.requests).toHaveLength(1)
  })

  it('has nothing of what the terminal answers meanwhile', async () => {
    const { server, terminal } = await openChat()
    const codes = [
      '\u001b[?62;22c',
      '\u001b]11;rgb:1e1e/1e1e/2e2e\u001b\\',
      '\u001b[I',
      '\u001b[<0;12;7M',
      '\u001bP>|tmux 3.5\u001b\\',
    ]
    for (const [index, code] of codes.entries()) {
      const half = Math.max(2, Math.trunc(code.length / 2))
      terminal.type(`${index}${code.slice(0, half)}`)
      terminal.type(`${code.slice(half)}.\u001b[13;2u`)
      await terminal.until(new RegExp(`${index}\\.$`, 'm'))
    }
    terminal.type('end\r')
    await vi.waitUntil(() => server.requests.length > 0, { timeout: 30_000 })
    expect(said(server)).toBe('0.\n1.\n2.\n3.\n4.\nend')
  })
})

describe('a command of the user', () => {
  it('runs without a question and without a model call, and the agent reads of it with the next message', async () => {
    const { server, terminal } = await openChat()
    terminal.type('!echo bees > made; echo hum; exit 3\r')
    await terminal.until(/› !echo bees[^]*\nhum\n\[exit 3\]\n[^]*\n›$/)
    expect(server.requests).toEqual([])
    terminal.type('What did I do?\r')
    await terminal.until(/Fine\.[^]*\n›$/)
    const sent = JSON.stringify(server.requests[0]?.body['messages'])
    expect(sent).toMatch(
      /What did I do\?.*The user ran this command.*\$ echo bees > made; echo hum; exit 3.*hum\\n\[exit 3\]/,
    )
    terminal.type('!!not a command\r')
    await vi.waitUntil(() => server.requests.length > 1, { timeout: 30_000 })
    expect(said(server)).toBe('!not a command')
    expect(JSON.stringify(server.requests[1]?.body['messages']).match(/The user ran/g)).toHaveLength(1)
  })

  it('is stopped by Escape, and the line is free meanwhile', async () => {
    const { server, terminal } = await openChat()
    terminal.type('!sleep 600\r')
    await terminal.until('running')
    terminal.type('/stats\r')
    await terminal.until('0 model calls')
    terminal.type('\u001b')
    await terminal.until(/\[stopped by the user\]|cancelled/)
    terminal.type('Go on.\r')
    await vi.waitUntil(() => server.requests.length > 0, { timeout: 30_000 })
    expect(JSON.stringify(server.requests[0]?.body['messages'])).toContain('$ sleep 600')
  })
})

describe('the status line of a chat', () => {
  it('shows model, folder and branch, and after a turn tokens and cost; it is gone when the chat ends', async () => {
    const { terminal } = await openChat({ columns: 160 })
    await vi.waitUntil(() => /^claude-sonnet-5-5 · entia-files-\w+$/.test(terminal.screen.allLines.at(-1) ?? ''))
    terminal.type('Hello\r')
    await terminal.until(/Fine\.[^]*\n›$/)
    await vi.waitUntil(() => / · 1 in · 1 out · \$0\.00/.test(terminal.screen.allLines.at(-1) ?? ''))
    terminal.type('\u0004')
    await terminal.ended
    expect(terminal.screen.allLines.join('\n')).not.toContain('claude-sonnet-5-5 · entia-files')
  })
})

describe('entia --resume without a key', () => {
  it('lets the user choose among the chats of the folder, and opens that one', async () => {
    const { server, terminal } = await openChat()
    const { at } = terminal
    const talk = async (chat: ChatTerminal, words: string): Promise<void> => {
      chat.type(`${words}\r`)
      await chat.until(/Fine\.[^]*\n›$/)
      chat.type('\u0004')
      await chat.ended
    }
    await talk(terminal, 'About bees')
    const second = new ChatTerminal([], at)
    await second.until(/^›$/m)
    await talk(second, 'About wasps')
    const chosen = new ChatTerminal(['--resume'], at)
    await chosen.until(/Which chat\?[^]*\n› \d{8}-\S+ .*About wasps\n {2}\d{8}-\S+ .*About bees$/)
    chosen.type('bee')
    await chosen.until(/› bee\n› \d{8}-\S+ .*About bees$/)
    chosen.type('\r')
    await chosen.until(/› About bees\n\nFine\.\n\n›$/)
    chosen.type('\u0004')
    await chosen.ended
    const none = new ChatTerminal(['--resume'], at)
    await none.until('Which chat?')
    none.type('\u001b')
    expect(await none.ended).toMatchObject({ exitCode: 0 })
    expect(server.requests).toHaveLength(2)
  })
})
