import { homedir } from 'node:os'
import { join } from 'node:path'
import { EntiaError } from '../../index.ts'
import { builtinTools, policyEffects, type ApproveCall, type ChatSession } from '../../runtime/index.ts'
import { makeChat, openChat as reopen } from '../../runtime/chat/make-chat.ts'
import { SessionFolder } from '../../runtime/chat/session-folder.ts'
import type { ChatArguments } from './chat-arguments.ts'

type Environment = Readonly<Record<string, string | undefined>>

export function sessionFolder(environment: Environment): SessionFolder {
  return new SessionFolder(join(dataFolder(environment), 'sessions'))
}

export function dataFolder(environment: Environment): string {
  return environment['ENTIA_DATA_DIR'] ?? join(homedir(), '.local/share/entia')
}

export async function openChat(
  args: ChatArguments & { readonly cwd: string },
  environment: Environment,
  approve: ApproveCall | undefined,
): Promise<ChatSession> {
  const { cwd, maxSteps = 50, model, provider } = args
  const folder = sessionFolder(environment)
  const options = {
    channel: 'cli',
    cwd,
    tools: builtinTools({ cwd, tools: args.tools }),
    provider,
    model,
    maxSteps,
    approve,
    ...(args.plan && { planMode: true }),
    host: { effects: policyEffects() },
    policy: { permissions: Object.fromEntries(args.allow.map((tool) => [tool, 'allow' as const])) },
  } as const
  if (args.resume === undefined) return checked(makeChat(options, { folder }), environment)
  return checked(
    await reopen(await folder.find(args.resume === '' ? 'latest' : args.resume, cwd), options, { folder }),
    environment,
  )
}

const keys: Readonly<Record<string, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  moonshot: 'MOONSHOT_API_KEY',
}

async function checked(session: ChatSession, environment: Environment): Promise<ChatSession> {
  const variable = keys[session.provider]
  if (variable === undefined || (environment[variable] ?? '').trim() !== '') return session
  await session.close()
  throw new EntiaError('missing-api-key', `${variable} is not set. Set it, or choose another provider.`)
}
