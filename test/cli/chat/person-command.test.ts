import { defineTool } from 'entia'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { PersonCommands } from '../../../src/cli/chat/person-command.ts'
import { chatting } from '../../runtime/chat/chatting.ts'
import { TypedChat } from './typed-chat.ts'

/** A shell that prints as many numbered lines as the command says. */
const bash = defineTool({
  name: 'bash',
  description: 'Runs a command.',
  input: z.object({ command: z.string(), timeoutMs: z.number() }),
  restart: 'once',
  run: ({ command }) => Array.from({ length: Number(command) }, (_, index) => `line ${index + 1}`).join('\n'),
})

describe('the output of a command of the user', () => {
  it.for<[count: string, shown: RegExp]>([
    ['3', /^line 1\nline 2\nline 3\n\(The agent/],
    ['200', /^line 1\n(?:line \d+\n){198}line 200\n/],
    ['5000', /^line 1\n(?:line \d+\n){99}… 4800 lines are left out\nline 4901\n(?:line \d+\n){98}line 5000\n/],
  ])('of %s lines is shown with its beginning and its end', async ([count, shown]) => {
    const { session } = chatting([], { tools: [bash] })
    await session.start()
    const chat = new TypedChat()
    const commands = new PersonCommands(chat.ui)
    await commands.run(count, session)
    await chat.screen.until(shown)
    const [told] = commands.take()
    expect(told).toMatchObject({ text: expect.stringContaining(`$ ${count}\n\nIt printed:\nline 1\n`) as string })
  })
})
