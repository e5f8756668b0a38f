import { allowsSome, type Approval, type Channel } from '../../protocol/policy.ts'
import type { ApproveCall } from '../chat/approval.ts'
import type { ChatSession } from '../chat/chat-session.ts'
import type { Folders } from '../config/folders.ts'
import type { RuntimeConfig } from '../config/runtime-config.ts'
import type { Sandbox } from '../sandbox/port.ts'
import type { ServerPrompt, SessionServers } from './session-servers.ts'

type Permissions = Readonly<Record<string, Approval>>

/** What of a chat session's options its MCP servers are made with. */
interface ServedOptions {
  readonly approve?: ApproveCall | undefined
  readonly channel?: Channel | undefined
  readonly permissions?: Permissions | undefined
  readonly onNotice?: ((notice: string) => unknown) | undefined
}

/**
 * The configured MCP servers, and what options and configuration say of tools: an 'allow' of the configuration for a tool of theirs
 * that has changed since does not count. Loads nothing where no server is configured.
 */
export async function sessionServers(
  { approve, channel = 'cli', onNotice, permissions }: ServedOptions,
  { mcp = {}, passEnv, permissions: configured = {} }: RuntimeConfig,
  {
    cwd,
    folders: { cache, state },
    home,
    sandbox,
  }: {
    readonly cwd: string
    readonly folders: Folders
    readonly home: string
    readonly sandbox: Sandbox | undefined
  },
): Promise<{ readonly feed?: SessionServers; readonly permissions: Permissions | undefined }> {
  const { maxDeclared, servers = {} } = mcp
  if (Object.keys(servers).length === 0) return { permissions }
  const [{ elicitationBy }, { SessionServers: Servers }, { SignIns }] = await Promise.all([
    import('./approved-elicitation.ts'),
    import('./session-servers.ts'),
    import('./sign-in.ts'),
  ])
  const signIns = new SignIns(state)
  const feed = await Servers.open({
    servers,
    maxDeclared,
    cwd,
    cache,
    home,
    sandbox,
    passEnv,
    onNotice: (notice) => onNotice?.(notice),
    auth: (name, url) => signIns.provider(name, url),
    elicit: approve && elicitationBy(approve, channel),
  })
  const asked = feed.changed.filter((tool) => allowsSome(configured[tool])).map((tool) => [tool, 'ask'] as const)
  return { feed, permissions: { ...Object.fromEntries(asked), ...permissions } }
}

const serversBySession = new WeakMap<ChatSession, SessionServers>()

/** Notes whose servers these are. */
export function servedSession(session: ChatSession, servers: SessionServers | undefined): ChatSession {
  if (servers !== undefined) serversBySession.set(session, servers)
  return session
}

/** Prompts of a chat session's MCP servers, as commands. */
export function serverPrompts(session: ChatSession): readonly ServerPrompt[] {
  return serversBySession.get(session)?.prompts ?? []
}
