import { memoryStore, scripted, VirtualClock } from 'entia'
import {
  addObserver,
  builtinTools,
  chooseProvider,
  collectSubagent,
  defaultLocalModel,
  folders,
  inspectCall,
  killSubagent,
  listSessions,
  listSkills,
  newSession,
  observerProgress,
  openSession,
  pinResult,
  policy,
  projectContext,
  providersOf,
  querySubagent,
  readRuntimeConfig,
  removeSession,
  removeSkill,
  sessionSetup,
  spawnSubagent,
  turn,
} from 'entia/runtime'
import { type Door, unless } from './doors.ts'

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
  sessionSetup: {
    args: () => [
      {
        ...{ cwd: nowhere, env: env(), provider: 'script', model: 'm', tools: ['file'], store: false as const },
        ...{
          loadProjectContext: false,
          maxSteps: 3,
          maxRetrievedChars: 100,
          subagentPreset: 'minimal',
          planMode: false,
        },
        ...{ permissions: { bash: 'allow' }, validateApiKey: false, verbose: false, onNotice: () => undefined },
      },
    ],
    use: async (options: object) => {
      const own = typeof options === 'object' ? { ...options, host: host() } : options
      const session = await sessionSetup(own)
      await session.close()
    },
  },
  openSession: {
    args: () => [{ key: 'none', cwd: nowhere, env: env(), maxSteps: 3, tools: ['file'] }],
    use: (options: Parameters<typeof openSession>[0]) => unless('unknown-session', openSession(options)),
  },
  removeSession: {
    args: () => ['none', { env: env() }],
    use: (key: string, options: object) => unless('unknown-session', removeSession(key, options)),
  },
  spawnSubagent: {
    args: () => [{ task: 'Look.', model: 'm', tools: [], preset: 'minimal', approvals: 'parent', costUsd: 1 }],
    use: (options: Parameters<typeof spawnSubagent>[1]) =>
      spoken(sessionOptions(), (session) => unless('limit-reached', spawnSubagent(session, options))),
  },
  querySubagent: {
    args: () => [1, 'Why?', { wait: true, timeoutMs: 0, returnName: 'x' }],
    use: (id: number, prompt: string, options: object) =>
      spoken(sessionOptions(), (session) => unless('unknown-session', querySubagent(session, id, prompt, options))),
  },
  collectSubagent: {
    args: () => ['1', { wait: true, timeoutMs: 0 }],
    use: (id: string, options: object) =>
      spoken(sessionOptions(), (session) => unless('unknown-session', collectSubagent(session, id, options))),
  },
  killSubagent: {
    args: () => ['1'],
    use: (id: string) => spoken(sessionOptions(), (session) => killSubagent(session, id)),
  },
  pinResult: {
    args: () => ['.h_001', true],
    use: (name: string, isPinned: boolean) => spoken(sessionOptions(), (session) => pinResult(session, name, isPinned)),
  },
  listSkills: { args: () => [nowhere, { cwd: nowhere, env: env() }], use: listSkills },
  removeSkill: {
    args: () => ['none', { targetDir: nowhere, cwd: nowhere, env: env() }],
    use: (name: string, options: object) => unless('skill-not-found', removeSkill(name, options)),
  },
}
