import {
  agent,
  defineComponent,
  defineLog,
  defineTag,
  defineTool,
  EntiaError,
  type EntiaErrorCode,
  fileTools,
  Host,
  memoryStore,
  type ModelProvider,
  outputSchema,
  run,
  Runner,
  type RunnerOptions,
  scripted,
  SessionPool,
  sqliteStore,
  standardSystems,
  type System,
  user,
  VirtualClock,
  World,
} from 'entia'
import { compactionThreshold, configured, estimateTokens, mergeConfig, readConfig } from 'entia/context'
import { anthropic, moonshot, ollama, openai, openaiCompatible } from 'entia/models'
import { tick } from 'entia/systems'
import * as components from 'entia/components'
import { simulate, sweep } from 'entia/sim'
import { z } from 'zod'
import { call } from '../contracts/model-calls.ts'

/** One door of the package: arguments that are right, and a call that also uses what it gives. */
export interface Door {
  readonly args: () => unknown[]
  readonly use: (...args: never[]) => unknown
  /** A system of the program runs in it, and may fail. */
  readonly hasOwnSystem?: boolean
}

/** What comes of right options where what they name is not there. */
export async function unless(code: EntiaErrorCode, done: Promise<unknown>): Promise<void> {
  await done.catch((error: unknown) => {
    if (!(error instanceof EntiaError) || error.code !== code) throw error
  })
}

/** Shared, so none of them can be broken. */
const systems: readonly System[] = standardSystems().map((system) => Object.freeze(system))
const config = {
  context: { compaction: { threshold: 0.8, timeoutSeconds: 60 }, tiers: { 'script/x': 'mid' }, watchdog: 'warn' },
  ceilings: { maxTurnCostUsd: 1, maxSessionCostUsd: 1 },
  subagents: { enabled: true },
}
const script = () => {
  let calls = 0
  return scripted(() => (calls++ % 2 === 0 ? { toolCalls: [{ name: 'look', arguments: { at: 'x' } }] } : 'Done.'))
}
const look = () => ({
  name: 'look',
  description: 'Looks somewhere.',
  input: z.object({ at: z.string() }),
  restart: 'pure' as const,
  approval: false,
  timeoutMs: 1_000,
  repeatable: true,
  maxResultChars: 100,
  run: () => ({ seen: 'x' }),
})
const agentOptions = () => ({
  model: 'script/x',
  system: 'Be brief.',
  tools: [defineTool(look())],
  messages: [user('Hello')],
  output: { type: 'object', properties: { x: { type: 'string' } } },
  temperature: 1,
  maxOutputTokens: 100,
  thinking: 'low',
  retry: false,
  timeoutMs: 1_000,
  maxSteps: 5,
  maxToolCalls: 5,
  config: structuredClone(config),
})
/** An agent with all that a configuration brings, before it has said anything. */
function office(name = 'office', own: readonly System[] = []): World {
  const world = new World({ name, systems: [...systems, ...own], components: Object.values(components) })
  const { output: _, ...options } = agentOptions()
  world.spawn(...agent({ ...(options as Parameters<typeof agent>[0]), messages: [] }))
  return world
}

function hostOptions() {
  return {
    models: { script: { ...script() } },
    tools: [{ ...defineTool(look()) }],
    onToolChange: 'refresh' as const,
    skills: [{ name: 'sharp', description: 'Sharp.', prompt: 'Be sharp.', data: { x: 1 }, tools: [] }],
    approve: () => ({ approved: true }),
    effects: { reminder: { isWaiting: true, queue: () => 'x', prepare: () => undefined } },
    maxInFlight: 10,
    maxInFlightPerProvider: { script: 5 },
    maxSessions: 5,
    artifacts: undefined,
    maxRecordBytes: 1_000,
    prices: { 'script/x': { input: 1, output: 2, contextWindow: 1_000 } },
  }
}

/** Options of what runs a world, but for time: without a virtual clock, waits would be real. */
function quick(options: unknown): RunnerOptions {
  const isOpen =
    typeof options === 'object' && options !== null && !Object.hasOwn(options, 'clock') && Object.isExtensible(options)
  return (isOpen ? Object.assign(options, { clock: new VirtualClock() }) : options) as RunnerOptions
}

async function answered(provider: ModelProvider): Promise<void> {
  const { outcome } = await call(provider)
  if (!outcome.ok && outcome.failure.kind === 'internal') throw new Error(outcome.failure.message)
  try {
    await provider.models?.()
  } catch (error) {
    // Says what the server or its SDK says.
    if (error instanceof TypeError || error instanceof RangeError) throw error
  }
}

function ticked(world: World): void {
  tick(world, [{ kind: 'started', dateMs: 0 }])
  tick(world)
  void [...world.snapshot()]
}

const server = () => ({
  baseURL: 'http://127.0.0.1:1/v1',
  apiKey: 'key',
  headers: { 'x-own': 'x' },
  fetch: async () => new Response('data: [DONE]\n\n', { headers: { 'content-type': 'text/event-stream' } }),
  maxReplyBytes: 1_000,
})

/** What makes things, and these in their first use. */
export const makers: Readonly<Record<string, Door>> = {
  'new World': {
    hasOwnSystem: true,
    args: () => [
      {
        name: 'office',
        seed: 1,
        systems: [{ name: 'own', priority: 1, run: () => undefined, events: ['own'], inputs: ['own'] }],
        components: [components.Conversation, components.Llm],
      },
    ],
    use: (options) => {
      const world = new World(options)
      world.newId('x')
      world.spawn(...agent({ model: 'script/x' }))
      ticked(world)
    },
  },
  agent: {
    args: () => [agentOptions()],
    use: (options) => {
      const world = new World({ systems })
      world.spawn(...agent(options))
      ticked(world)
    },
  },
  defineTool: {
    args: () => [look()],
    use: async (options) => {
      const tool = defineTool(options)
      await tool.call({ at: 'x' }, { sleep: async () => undefined } as never)
      office().spawn(...agent({ model: 'script/x', tools: [tool] }))
    },
  },
  'defineTool, JSON Schema': {
    args: () => [
      {
        ...look(),
        input: {
          type: 'object',
          properties: {
            at: { type: 'string', enum: ['x'], description: 'Where.' },
            n: { type: 'integer', minimum: 1 },
          },
          required: ['at'],
          additionalProperties: false,
        },
      },
    ],
    use: async (options) => defineTool(options).call({ at: 'x', n: 1 }, {} as never),
  },
  defineComponent: {
    args: () => [
      'Desk',
      z.object({ of: z.int(), size: z.number().default(1) }),
      { version: 1, migrate: (saved: unknown) => saved, refusedWith: 'invalid-value', ref: 'of', cascade: true },
      { of: 1, size: 2 },
    ],
    use: (name, schema, options, value) => {
      const token = defineComponent(name, schema, options)
      const world = new World()
      world.spawn()
      world.spawn(token(value))
      ticked(world)
    },
  },
  defineLog: {
    args: () => ['Book', z.string(), { version: 1, marks: { tag: defineTag('Full'), when: () => true } }, ['x', 'y']],
    use: (name, schema, options, items) => {
      const token = defineLog(name, schema, options)
      const world = new World()
      const entity = world.spawn(token(items))
      world.append(entity, token, ...((items ?? []) as never[]))
      ticked(world)
    },
  },
  defineTag: { args: () => ['Open'], use: (name) => new World().spawn(defineTag(name)) },
  VirtualClock: {
    args: () => [
      { dateMs: 0, auto: false, whenQuiet: () => undefined, together: () => false, stepsWithoutTurn: 1 },
      10,
      () => undefined,
      20,
    ],
    use: (options, at, fire, durationMs) => {
      const clock = new VirtualClock(options)
      clock.at(at, fire)
      clock.advance(durationMs)
      if (!Number.isFinite(clock.date())) throw new Error(`The date is ${clock.date()}.`)
    },
  },
  SessionPool: {
    args: () => [{ cap: 2 }, 'session-1', 'first'],
    use: (options, session, place) => {
      const pool = new SessionPool(options)
      void pool.enter(session, place)
      pool.position(session)
      pool.leave(session)
    },
  },
  estimateTokens: {
    args: () => [[user('Hello'), { role: 'user', content: [{ type: 'text', text: 'Hm' }] }], { factor: 1 }],
    use: (content, options) => {
      const tokens = estimateTokens(content, options)
      if (!(tokens >= 0)) throw new Error(`${tokens} tokens`)
    },
  },
  readConfig: { args: () => [structuredClone(config)], use: (given) => configured(readConfig(given)) },
  mergeConfig: {
    args: () => [structuredClone(config), { context: { watchdog: 'enforce' } }, {}],
    use: (...layers) => readConfig(mergeConfig(...layers)),
  },
  configured: {
    args: () => [structuredClone(readConfig(config))],
    use: (given) => new World().spawn(...configured(given)),
  },
  compactionThreshold: {
    args: () => [{ tier: 'mid', taskClass: 'debug', config: { threshold: 0.5, thresholdByTier: { mid: 0.6 } } }],
    use: (options) => compactionThreshold(options),
  },
  standardSystems: {
    hasOwnSystem: true,
    args: () => [
      {
        maxStartsPerTick: 10,
        defaultTimeoutMs: 1_000,
        allowUnregisteredSubagents: true,
        compactor: { should: () => false, prompt: () => 'x' },
        checkpointer: { should: () => false, prompt: () => 'x' },
        watchdog: [{ name: 'own', initial: 0, observe: () => ({ state: 0 }) }],
      },
    ],
    use: (options) => {
      const world = new World({ systems: standardSystems(options) })
      world.spawn(...agent({ model: 'script/x' }))
      ticked(world)
    },
  },
  sqliteStore: {
    args: () => [{ folder: 'x', transcripts: 'y', synchronous: 'full', maxSizeBytes: 1_000 }],
    use: (options) => sqliteStore(options),
  },
  fileTools: { args: () => [{ folder: 'x' }], use: (options) => fileTools(options) },
  outputSchema: { args: () => [agentOptions().output], use: (schema) => new World().spawn(outputSchema(schema)) },
  memoryStore: {
    args: () => [
      'office',
      { holder: 'x', record: true },
      { snapshot: { tick: 1, lines: ['x'] }, rows: [{ tick: 2, line: 'y' }], isBusy: false },
      'key',
      'text',
      'agents/x/sessions/1.jsonl',
      [{ text: '{}', searchable: 'words' }],
      { from: 0 },
      { limit: 1 },
    ],
    use: async (world, options, batch, key, text, transcript, lines, from, limit) => {
      const store = memoryStore()
      const journal = await store.open(world, options)
      await journal.commit(batch)
      await journal.load()
      await store.putText(world, key, text)
      await store.appendTranscript(world, transcript, lines, from)
      await store.searchTranscript(world, [transcript], text, limit)
      await store.list()
      await journal.close()
      await store.delete(world)
    },
  },
  Host: { args: () => [{ ...hostOptions(), clock: new VirtualClock() }], use: (options) => new Host(options).close() },
}

/** What makes a provider, and a call of it. No server is there. */
export const providers: Readonly<Record<string, Door>> = {
  anthropic: { args: () => [server()], use: (options) => answered(anthropic(options)) },
  openai: { args: () => [{ name: 'own', ...server() }], use: (options) => answered(openai(options)) },
  openaiCompatible: {
    args: () => [{ name: 'local', ...server(), apiKeyEnv: 'NO_SUCH_KEY', thinkingField: 'reasoning' }],
    use: (options) => answered(openaiCompatible(options)),
  },
  ollama: { args: () => [server()], use: (options) => answered(ollama(options)) },
  moonshot: { args: () => [server()], use: (options) => answered(moonshot(options)) },
  scripted: {
    args: () => [
      () => ({
        text: 'x',
        thinking: 'y',
        toolCalls: [{ name: 'look', arguments: {}, id: 'a' }],
        stop: 'end',
        usage: {},
      }),
      {
        latencyMs: [1, 5],
        usage: { inputTokens: 1, outputTokens: 2 },
        retry: { maxAttempts: 2, firstDelayMs: 1, maxDelayMs: 2, kinds: ['overloaded'] },
        settings: { x: 1 },
        stream: true,
      },
    ],
    use: async (behaviour, options) => {
      const provider = scripted(behaviour, options)
      const world = office()
      world.post({ kind: 'message', agent: 1, message: user('Hello') })
      await run(world, quick({ ...hostOptions(), models: { script: provider } }))
    },
  },
}

/** What drives a world with an agent until nothing is left to do. */
export const runners: Readonly<Record<string, Door>> = {
  run: {
    args: () => [
      {
        ...hostOptions(),
        store: Object.freeze(memoryStore()),
        record: true,
        maxInputsPerTick: 5,
        clock: new VirtualClock(),
      },
    ],
    use: async (options) => {
      const world = office()
      world.post({ kind: 'message', agent: 1, message: user('Hello') })
      await run(world, quick(options))
    },
  },
  'run, world': { args: () => [office()], use: (world) => run(world, quick(hostOptions())) },
  'Runner.open': {
    args: () => [
      {
        ...hostOptions(),
        store: Object.freeze(memoryStore()),
        name: 'office',
        systems: [...systems],
        components: { ...components },
        create: () => office(),
        clock: new VirtualClock(),
      },
    ],
    use: async (options) => {
      const runner = await Runner.open(options)
      await runner.start()
      await runner.idle()
      await runner.stop()
    },
  },
}

/** Calls of a Runner that is started. The rest of it goes on as if they had not been. */
export const calls: Readonly<Record<string, Door>> = {
  message: {
    args: () => [1, user('Hello'), { id: 'a' }],
    use: onRunner((it, a) => it.message(...(a as [never, never, never]))),
  },
  post: {
    args: () => [{ kind: 'message', agent: 1, message: user('Hello') }, { id: 'a' }],
    use: onRunner((it, a) => it.post(...(a as [never, never]))),
  },
  'post, answer': {
    args: () => [{ kind: 'answer', approval: 'x', approved: true, reason: 'x' }],
    use: onRunner((it, a) => it.post(...(a as [never]))),
  },
  'post, query': {
    args: () => [{ kind: 'query', agent: 1, prompt: 'x', query: 'q', session: 's' }],
    use: onRunner((it, a) => it.post(...(a as [never]))),
  },
  'post, delegate': {
    args: () => [{ kind: 'delegate', agent: 1, correlationId: 'x', prompt: 'y', fork: true, timeoutMs: 1_000 }],
    use: onRunner((it, a) => it.post(...(a as [never]))),
  },
  cancel: { args: () => [1, 'reason'], use: onRunner((it, a) => it.cancel(...(a as [never, never]))) },
  change: { args: () => [() => 1], use: onRunner((it, a) => it.change(...(a as [never]))) },
  resetCostCeiling: {
    args: () => [1, { addSessionUsd: 1 }],
    use: onRunner((it, a) => it.resetCostCeiling(...(a as [never, never]))),
  },
  resetWatchdog: { args: () => [1], use: onRunner((it, a) => it.resetWatchdog(...(a as [never]))) },
  runSubtask: {
    args: () => [
      1,
      {
        name: 'sub',
        systemPrompt: 'x',
        userMessage: 'y',
        tools: ['look'],
        model: 'script/x',
        maxSteps: 2,
        timeoutMs: 1_000,
      },
    ],
    use: onRunner((it, a) => it.runSubtask(...(a as [never, never]))),
  },
  compact: { args: () => [1, { focus: 'x' }], use: onRunner((it, a) => it.compact(...(a as [never, never]))) },
  checkpoint: { args: () => [1, { note: 'x' }], use: onRunner((it, a) => it.checkpoint(...(a as [never, never]))) },
  textSoFar: { args: () => [1, ['x']], use: onRunner((it, a) => it.textSoFar(...(a as [never, never]))) },
  on: { args: () => ['turn-ended', () => undefined], use: onRunner((it, a) => it.on(...(a as ['*', never]))()) },
  spawn: {
    args: () => [1, { prompt: 'x', loadSkills: [], timeoutMs: 1_000, notify: true }],
    use: onRunner((it, [agentOf, options]) => it.subagents(agentOf as never).spawn(options as never)),
  },
  fork: {
    args: () => [1, 'directive', { timeoutMs: 1_000 }],
    use: onRunner((it, [agentOf, directive, options]) =>
      it.subagents(agentOf as never).fork(directive as never, options as never),
    ),
  },
  sessions: {
    args: () => [1, 1, 'prompt', { wait: true, timeoutMs: 1_000 }, { active: true }],
    use: onRunner(async (it, [agentOf, ref, prompt, options, listed]) => {
      const subagents = it.subagents(agentOf as never)
      await it.subagents(1).fork('x')
      await it.idle()
      subagents.list(listed as never)
      await subagents.transcript(ref as never)
      await subagents.collect(ref as never, options as never)
      await subagents.query(ref as never, prompt as never, options as never)
      await subagents.cancel(ref as never)
      await subagents.kill(ref as never)
    }),
  },
  addTool: {
    args: () => [1, 'look'],
    use: (...args) => started((it) => it.addTool(...(args as [never, never]))),
  },
}

function onRunner(use: (runner: Runner, args: unknown[]) => unknown): Door['use'] {
  return (...args: never[]) =>
    started(
      () => undefined,
      (runner) => use(runner, args),
    )
}

/** A world with a message, taken up, used, and driven to its end. */
async function started(before: (runner: Runner) => unknown, use?: (runner: Runner) => unknown): Promise<void> {
  const runner = new Runner(office(), quick(hostOptions()))
  try {
    before(runner)
    await runner.start()
    await runner.message(1, 'Hello')
    await use?.(runner)
    await runner.idle()
  } finally {
    await runner.stop()
  }
}

const { Ceilings, Context, Limits, Llm, Permissions, SystemPrompt, ToolRegistry } = components
const settable: readonly unknown[] = [Context, Llm, Limits, Ceilings, SystemPrompt, ToolRegistry, Permissions]

/** Writes to a world, as a program without types makes them, and what systems and stores make of them. */
export const writes: Readonly<Record<string, Door>> = {
  spawn: {
    args: () => [components.Paused, Object.freeze(components.Limits({ maxSteps: 1 }))],
    use: onWorld((it, a) => it.spawn(...(a as never[]))),
  },
  add: {
    args: () => [1, Object.freeze(components.Limits({ maxSteps: 1 }))],
    use: onWorld((it, a) => it.add(...(a as [never, never]))),
  },
  append: {
    args: () => [1, components.Conversation, user('x'), user('y')],
    use: onWorld((it, a) => it.append(...(a as [never, never, never]))),
  },
  splice: {
    args: () => [1, components.Conversation, 0, 0, [user('x')]],
    use: onWorld((it, a) => it.splice(...(a as [never, never, never, never, never]))),
  },
  rewrite: {
    args: () => [1, components.Conversation, [user('x')]],
    use: onWorld((it, a) => it.rewrite(...(a as [never, never, never]))),
  },
  share: {
    args: () => [1, components.Conversation, 1, components.Conversation, 0],
    use: onWorld((it, a) => it.share(...(a as [never, never, never, never, never]))),
  },
  patch: {
    args: () => [1, components.Limits, { maxSteps: 1, maxToolCalls: 2 }],
    use: onWorld((it, a) => it.patch(...(a as [never, never, never]))),
  },
  remove: { args: () => [1, components.Limits], use: onWorld((it, a) => it.remove(...(a as [never, never]))) },
  despawn: { args: () => [1], use: onWorld((it, a) => it.despawn(...(a as [never]))) },
  get: { args: () => [1, components.Limits], use: onWorld((it, a) => it.get(...(a as [never, never]))) },
  read: { args: () => [1, components.Limits], use: onWorld((it, a) => it.read(...(a as [never, never]))) },
  query: { args: () => [components.Limits, components.Llm], use: onWorld((it, a) => it.query(...(a as never[]))) },
  first: { args: () => [1, components.Llm], use: onWorld((it, a) => it.first(...(a as [never]))) },
  post: {
    args: () => [{ kind: 'message', agent: 1, message: user('Hello'), id: 'a' }],
    use: onWorld((it, a) => it.post(...(a as [never]))),
  },
  newId: { args: () => ['x'], use: onWorld((it, a) => it.newId(...(a as [never]))) },
  hash: { args: () => [{}], use: onWorld((it, a) => it.hash(...(a as [never]))) },
  ...Object.fromEntries(
    settable.map((token) => {
      const { name } = token as typeof Context
      const value = (): unknown => structuredClone(office().get(1, token as typeof Context) ?? {})
      return [
        `set ${name}`,
        { args: () => [1, token, value()], use: onWorld((it, a) => it.set(...(a as [never, never, never]))) },
      ]
    }),
  ),
}

function onWorld(write: (world: World, args: unknown[]) => unknown): Door['use'] {
  return async (...args: never[]) => {
    const world = office()
    write(world, args)
    void [...world.snapshot()]
    world.post({ kind: 'message', agent: 1, message: user('Hello') })
    await run(world, quick(hostOptions()))
  }
}

const small = () => ({
  world: () => office(),
  components: Object.values(components),
  models: hostOptions().models,
  tools: hostOptions().tools,
  skills: hostOptions().skills,
  prices: hostOptions().prices,
  users: {},
  faults: { tool: { throws: 0.1 }, crash: { perTick: 0.01 } },
  laws: [],
  latencyMs: { model: [1, 5], tool: [1, 5] },
  maxSessions: 2,
  maxInFlight: 10,
  sessionPool: () => new SessionPool(),
  store: () => memoryStore(),
  bounds: { maxTicks: 100, maxVirtualMs: 1e6, maxStallMs: 1_000, maxCrashes: 2 },
  realUse: 'refuse',
  onMiss: 'fail',
})

/** Whole simulations. */
export const simulations: Readonly<Record<string, Door>> = {
  simulate: { args: () => [{ seed: 1, ...small() }], use: (options) => simulate(options) },
  sweep: {
    args: () => [{ seeds: 1, from: 1, shrink: false, keepGoing: false, ...small() }],
    use: (options) => sweep(options),
  },
}
