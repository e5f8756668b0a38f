import type { Tool } from '../../tools/port.ts'

/** What few turns need: earlier commits, packages, other models, background shells, and subagents but for their launch. */
const rarelyUsed: ReadonlySet<string> = new Set([
  'git_log',
  'js_help',
  'installed_packages',
  'chat',
  'chat_models',
  'shell_output',
  'shell_stop',
  'collect_subagent',
  'query_subagent',
  'list_subagents',
  'kill_subagent',
])

/**
 * The built-in tools of a chat session to which all are granted: the model finds those that few turns need by a search, so that
 * they cost nothing in each request. What is named by itself is shown.
 *
 * @param named what was granted: names of tools and of what stands for several
 */
export function withRareToolsDeferred(tools: readonly Tool[], named: readonly string[]): readonly Tool[] {
  if (!named.includes('all')) return tools
  return tools.map((tool): Tool => {
    const { name } = tool.declaration
    const isRare = rarelyUsed.has(name) && !named.includes(name)
    return isRare ? { ...tool, declaration: { ...tool.declaration, deferred: true } } : tool
  })
}
