import { memoryStore, scripted, VirtualClock } from 'entia'
import {
  addObserver,
  builtinTools,
  chooseProvider,
  defaultLocalModel,
  folders,
  inspectCall,
  listSessions,
  newSession,
  observerProgress,
  policy,
  projectContext,
  providersOf,
  readRuntimeConfig,
  turn,
} from 'entia/runtime'
import type { Door } from './doors.ts'

/** A folder that is not there. */
const nowhere = '/nowhere'

const host = () => ({ clock: new VirtualClock(), models: { script: scripted(() => 'Done.') } })
const sessionOptions = () => ({
  channel: 'cli' as const,
  history: [
    { role: 'user' as const, content: 'a' },
    { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'b' }] },
  ],
  modelMap: { cloud: 'script/m', local: 'script/local' },
  provider: 'script',
  model: 'm',
  tools: [],
  system: 'Be brief.',
  approve: () => true,
  maxSteps: 3,
  verbose: false,
  planMode: false,
  seed: 1,
  cwd: nowhere,
  key: 'a',
  home: nowhere,
  configFolder: `${nowhere}/config`,
  policy: { approvalMode: 'ask' as const, permissions: { bash: 'allow' as const }, deniedPaths: ['~/x'] },
  policyFunction: () => undefined,
  config: { subagents: { enabled: true } },
})

/** Always with a Host of its own: without a virtual clock, waits would be real. */
async function spoken(options: object, use: (session: ReturnType<typeof newSession>) => unknown): Promise<void> {
  if (typeof options !== 'object') return void newSession(options)
  const session = newSession({ ...options, host: host(), store: memoryStore() })
  try {
    await use(session)
  } finally {
    await session.close()
  }
}

const call = (tool: string, given: Readonly<Record<string, string>>) => ({
  tool,
  arguments: given,
  channel: 'cli' as const,
  home: '/home/u',
  cwd: nowhere,
  declared: { operation: 'exec' as const, paths: ['path'], category: 'code' },
  configFolder: '/home/u/.config/entia',
  planMode: false,
  sticky: false,
  hasReadOther: false,
})
const config = () => ({
  dangerousTools: ['bash'],
  approvalMode: 'ask' as const,
  permissions: { bash: 'allow' as const },
  allowedPaths: [nowhere],
  deniedPaths: ['~/x'],
  personalPaths: ['~/Documents'],
  codePaths: ['~/src'],
  routing: 'advisory' as const,
})
const facts = () => ({
  real: { [nowhere]: ['/elsewhere'] },
  shell: { words: [{ text: 'a', paths: ['/a'], meansAllBelow: true }], texts: ['a'], opaque: 'a' },
})
const places = () => ({ config: nowhere, data: nowhere, cache: nowhere, state: nowhere })
const env = () => ({
  HOME: nowhere,
  ANTHROPIC_API_KEY: 'key',
  ENTIA_DATA_DIR: nowhere,
  OLLAMA_HOST: 'http://127.0.0.1:1',
})
const providers = () => ({
  own: { api: 'openai-chat' as const, baseUrl: 'http://127.0.0.1:1/v1', apiKeyEnv: 'KEY', defaultModel: 'm' },
})

/** What `entia/runtime` gives to programs. None of it writes to the disk. */
export const runtime: Readonly<Record<string, Door>> = {
  newSession: {
    args: () => [sessionOptions()],
    use: (options: object) => spoken(options, (session) => turn('Hello', session)),
  },
  turn: {
    args: () => [
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      {
        toolSource: {
          declarations: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, restart: 'pure' }],
          call: () => 'seen',
        },
        tools: [],
      },
    ],
    use: (prompt: string, options: object) => spoken(sessionOptions(), (session) => turn(prompt, session, options)),
  },
  addObserver: {
    args: () => [() => undefined],
    use: (observer: () => void) => spoken(sessionOptions(), (session) => addObserver(session, observer)()),
  },
  observerProgress: { args: () => [{ write: () => undefined }], use: (options: object) => observerProgress(options) },
  policy: {
    args: () => [{ ...call('bash', { command: 'ls' }), facts: facts(), hostAnswer: { approval: 'allow' } }, config()],
    use: policy,
  },
  inspectCall: { args: () => [call('bash', { command: 'ls', path: 'a' }), config()], use: inspectCall },
  builtinTools: {
    args: () => [
      {
        ...{ cwd: nowhere, tools: ['all'], home: nowhere, env: env(), passEnv: ['A'], allowPrivate: ['a:1'] },
        tavilyBaseUrl: 'http://127.0.0.1:1',
      },
    ],
    use: builtinTools,
  },
  chooseProvider: {
    args: () => [
      { provider: 'anthropic', model: 'm', config: { providers: providers() }, env: env(), validateApiKey: true },
    ],
    use: chooseProvider,
  },
  providersOf: { args: () => [{ providers: providers() }, env()], use: providersOf },
  defaultLocalModel: {
    args: () => [{ refresh: true, localModels: ['m'], env: env() }],
    use: defaultLocalModel,
  },
  folders: { args: () => [env(), nowhere], use: folders },
  readRuntimeConfig: {
    args: () => [{ cwd: nowhere, folders: places(), home: nowhere, over: { maxSteps: 1 } }],
    use: readRuntimeConfig,
  },
  projectContext: { args: () => [{ cwd: nowhere, configFolder: nowhere }], use: projectContext },
  listSessions: { args: () => [{ env: env() }], use: listSessions },
}
