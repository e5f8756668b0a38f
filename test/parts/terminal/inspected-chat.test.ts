import { describe, expect, it, onTestFinished } from 'vitest'
import { startAnthropicServer } from '../../servers/anthropic-server.ts'
import { inTurn } from '../../servers/loopback.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { launch } from '../inspector/page-watch.ts'
import { ChatTerminal } from './chat-terminal.ts'

describe('entia --inspect on a terminal', () => {
  it('prints a link that opens the page of the chat, which follows what is said, and may act', async () => {
    const reply = { text: 'Bees sleep at night.', usage: { input: 100, output: 10 } }
    const server = await startAnthropicServer(inTurn(reply, { ...reply, text: 'Wasps do not.' }))
    onTestFinished(() => server.close())
    const folder = await tempFolder({ 'notes.md': 'Bees sleep at night.\n' })
    const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'key', NO_PROXY: '*' }
    const terminal = new ChatTerminal(['chat', '--inspect'], { in: folder, env })
    await terminal.until(/^[›>]$/m)
    // Where it is longer than a line the terminal breaks it, and not the program: it stays a link to click.
    const [link = ''] = /http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{32}/.exec(terminal.sent) ?? []
    expect(link).not.toBe('')
    const browser = await launch()
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    await page.goto(link)
    // The chat begins with its first message.
    await page.getByText('A world appears here with its first tick.').waitFor()
    terminal.type('What is in here?\r')
    await terminal.until('Bees sleep at night.')
    await page.getByRole('row', { name: /done has answered/ }).waitFor()
    await page.getByRole('link', { name: 'Conversation' }).click()
    await page.getByText('What is in here?').waitFor()
    await page.getByText('Bees sleep at night.').waitFor()
    await page.getByRole('button', { name: 'Act' }).waitFor()
    terminal.type('And wasps?\r')
    await page.getByText('Wasps do not.').waitFor()
    terminal.type('\u0004')
    expect(await terminal.ended).toMatchObject({ exitCode: 0 })
    await expect(fetch(link)).rejects.toThrow('fetch failed')
  })
})
