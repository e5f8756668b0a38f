import { serverPrompts } from '../../runtime/mcp/session-feed.ts'
import type { ChatSession } from '../../runtime/chat/chat-session.ts'
import type { MenuItem } from './menu.ts'

/**
 * The text of the MCP server's prompt that a line names, such as `/github:review 12`. Gives `undefined` for a line that names none.
 *
 * @throws by its promise: an Error that says why the server does not give it
 */
export function serverPromptText(line: string, session: ChatSession): Promise<string> | undefined {
  const typed = line.trim()
  const named = serverPrompts(session)
    .filter(({ command }) => typed === `/${command}` || typed.startsWith(`/${command} `))
    .toSorted((a, b) => b.command.length - a.command.length)[0]
  return named?.text(
    typed
      .slice(named.command.length + 1)
      .split(/\s+/)
      .filter((word) => word !== ''),
  )
}

/** Prompts to choose from. */
export function serverPromptItems(session: ChatSession): readonly MenuItem[] {
  return serverPrompts(session).map(({ arguments: wanted, command, description }) => {
    return { value: `/${command}`, help: description.replaceAll('\n', ' '), isWhole: wanted.length === 0 }
  })
}

/** One line a prompt. */
export function serverPromptHelp(session: ChatSession): readonly string[] {
  return serverPrompts(session).map(({ arguments: wanted, command, description }) => {
    const words = wanted.map(({ isRequired, name }) => (isRequired ? ` ${name}` : ` [${name}]`)).join('')
    return `/${command}${words}  ${description.replaceAll('\n', ' ')}`
  })
}
