import { statSync } from 'node:fs'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { EntiaError } from '../../index.ts'
import type { ApproveCall } from '../../runtime/chat/approval.ts'
import type { ChatSession } from '../../runtime/chat/chat-session.ts'
import { folders } from '../../runtime/config/folders.ts'
import { openSession, sessionSetup } from '../../runtime/chat/session-setup.ts'
import { readRuntimeConfig } from '../../runtime/config/read-runtime-config.ts'
import { otherLocalModels, defaultLocalModel } from '../../runtime/models/local-model.ts'
import { didYouMean } from '../../base/near-names.ts'
import { UsageError } from '../parsed-words.ts'
import type { ChatArguments } from './chat-arguments.ts'

/** How a chat gets its chat sessions. */
export interface ChatSessions {
  /** The one to begin with. */
  readonly first: ChatSession
  /** It was stored, and goes on. */
  readonly isResumed: boolean
  /** A new one with the same settings. */
  readonly another: () => Promise<ChatSession>
  /** Removes one that nothing was said in, if it is stored. */
  readonly forget: (key: string) => Promise<void>
}

/** Where a chat session comes from, and whom it asks. */
export interface OpenChatOptions {
  readonly args: ChatArguments
  /** Absolute. */
  readonly cwd: string
  readonly environment: NodeJS.ProcessEnv
  /** Absent: what asks is declined. */
  readonly approve?: ApproveCall | undefined
  readonly onNotice: (notice: string) => void
}

/**
 * A new chat session by the configuration and the command line, or with `--resume` a stored one.
 *
 * @throws UsageError for a folder that is not there and a tool behind `--allow` that it does not have, and as `sessionSetup`
 */
export async function openChat(options: OpenChatOptions): Promise<ChatSession> {
  const { cwd } = options
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`--cwd must be a folder; ${cwd} is none.`)
  }
  const session = await foundChat(options)
  await refuseMissingModel(session, options)
  const names = session.world.get(session.agent, ToolRegistry)?.tools.map(({ name }) => name) ?? []
  const unknown = options.args.allow.find((name) => !names.includes(name) && !isOfServer(name))
  if (unknown === undefined) return session
  await session.close()
  throw new UsageError(
    `--allow names the tool '${unknown}', which this chat does not have.${didYouMean(unknown, names)}`,
  )
}

/** Tools of an MCP server that was never connected are not known yet. */
function isOfServer(name: string): boolean {
  return name.includes('__')
}

/** A local model that is not installed answers nothing. A stored chat opens all the same, and can go on with another. */
async function refuseMissingModel(
  session: ChatSession,
  { args, environment, onNotice }: OpenChatOptions,
): Promise<void> {
  const { model, provider } = session
  const others = provider === 'ollama' ? await otherLocalModels(model, environment) : undefined
  if (others === undefined) return
  const there = others.length === 0 ? 'It has no model yet.' : `It has ${others.slice(0, maxModelsNamed).join(', ')}.`
  const what = `Ollama has no model ${model}. Install it with: ollama pull ${model}. ${there}`
  if (args.resume !== undefined) return onNotice(what)
  await session.close()
  throw new UsageError(what)
}

const maxModelsNamed = 10

async function foundChat(options: OpenChatOptions): Promise<ChatSession> {
  const { approve, args, cwd, onNotice } = options
  const environment = { ...options.environment }
  const { maxSteps, model, provider, tools } = args
  const permissions = Object.fromEntries(args.allow.map((tool) => [tool, 'allow' as const]))
  const common = { approve, env: environment, maxSteps, model, onNotice, permissions, provider, tools }
  const planMode = args.plan ? true : undefined
  if (args.resume !== undefined) {
    const key = args.resume === '' ? 'latest' : args.resume
    return openSession({ ...common, key, planMode, ...(key === 'latest' && { cwd }) })
  }
  const setup = { ...common, channel: 'cli', cwd, planMode } as const
  try {
    return await sessionSetup(setup)
  } catch (error) {
    const other = await otherProvider(error, options)
    if (other === undefined) throw error
    onNotice(`${(error as EntiaError).message.split('. ')[0]}; using ${other.model ?? other.provider}.`)
    return sessionSetup({ ...setup, ...other })
  }
}

/** Where nobody named a provider and the usual one has no key: one that has, or a local model. */
async function otherProvider(
  error: unknown,
  { args, cwd, environment }: OpenChatOptions,
): Promise<{ readonly provider?: string; readonly model?: string } | undefined> {
  if (!(error instanceof EntiaError) || error.code !== 'missing-api-key') return undefined
  if (args.provider !== undefined || args.model !== undefined) return undefined
  const { config } = await readRuntimeConfig({ cwd, folders: folders(environment, cwd) })
  if (config.provider !== undefined || config.model !== undefined) return undefined
  if ((environment['OPENAI_API_KEY'] ?? '').trim() !== '') return { provider: 'openai' }
  const local = await defaultLocalModel({ localModels: config.localModels, env: environment })
  return local === null ? undefined : { model: `ollama/${local}` }
}
