import type { PolicyEffectsOptions } from '../policy/policy-effects.ts'
import type { ChatSession } from '../chat/chat-session.ts'
import type { Folders } from '../config/folders.ts'
import type { RuntimeConfig } from '../config/runtime-config.ts'
import { policyConfigOf } from '../config/runtime-config.ts'
import type { SessionSandbox } from './session-sandbox.ts'

/** Where a chat session or a server works. */
export interface SandboxPlace {
  /** Absolute. */
  readonly cwd: string
  readonly home: string
  readonly folders: Folders
}

/** The sandbox that a configuration wants, which is not made yet; `undefined`: none. Loads nothing then. */
export async function openSandbox(
  config: RuntimeConfig,
  { cwd, folders, home }: SandboxPlace,
): Promise<SessionSandbox | undefined> {
  const { allowedDomains, sandbox: mode = 'auto' } = config
  if (mode === 'off') return undefined
  const { SessionSandbox: Sandbox } = await import('./session-sandbox.ts')
  return Sandbox.open({ mode, cwd, home, folders, config: policyConfigOf(config), allowedDomains })
}

/** Tools whose programs run in the sandbox. */
const confinedTools: ReadonlySet<string> = new Set(['bash', 'run_js'])

/** Has a sandbox made while a model answers, where one of the tools runs programs in it. */
export function beginSandboxFor(
  sandbox: SessionSandbox | undefined,
  tools: readonly { readonly declaration: { readonly name: string } }[],
): void {
  if (tools.some(({ declaration }) => confinedTools.has(declaration.name))) sandbox?.begin()
}

/**
 * Says of calls where their programs run, for the policy.
 *
 * @param isTrustedFolder in others, calls that stay inside need the same answers as without a sandbox
 */
export function placeInSandbox(
  sandbox: SessionSandbox | undefined,
  { sandboxedCommands = 'allow' }: RuntimeConfig,
  isTrustedFolder: boolean,
): PolicyEffectsOptions['sandbox'] {
  if (sandbox === undefined) return undefined
  const needNoQuestion = isTrustedFolder && sandboxedCommands === 'allow'
  return async ({ arguments: given, tool }) => {
    if (!confinedTools.has(tool) || !(await sandbox.isThere())) return undefined
    const { outsideSandbox } = given as { readonly outsideSandbox?: unknown }
    if (outsideSandbox === true) return 'outside'
    return needNoQuestion ? 'inside' : undefined
  }
}

const sandboxBySession = new WeakMap<ChatSession, SessionSandbox>()

/** Notes what the programs of a chat session run in. */
export function confinedSession(session: ChatSession, sandbox: SessionSandbox | undefined): ChatSession {
  if (sandbox !== undefined) sandboxBySession.set(session, sandbox)
  return session
}

/** Says that a chat session which is to have a sandbox has none, and why. */
export async function tellMissingSandbox(session: ChatSession, say: (line: string) => void): Promise<void> {
  const sandbox = sandboxBySession.get(session)
  if (sandbox === undefined || (await sandbox.isThere())) return
  say(`No sandbox: commands run with your rights. ${sandbox.missing ?? ''}`)
}
