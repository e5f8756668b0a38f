import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  type AgentOptions,
  Host,
  type HostOptions,
  type Initial,
  type Json,
  SessionPool,
  type Store,
  type TagComponent,
  type Tool,
  type ToolDeclaration,
  VirtualClock,
} from 'entia'
import { builtinTools, Policy, policyEffects, type PolicyConfig, type PolicyEffectsOptions } from 'entia/runtime'
import { onTestFinished } from 'vitest'
import type { Channel } from '../../../src/protocol/policy.ts'
import type { ScriptedBehaviour } from '../../../src/models/scripted.ts'
import { behaving, type Driven, driven, worldWith } from '../turns/driving.ts'

/** A home folder with a project in it, and these files, by their place in the home folder. */
export async function homeWith(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'entia-home-')))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  await mkdir(join(home, 'projects/app'), { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, path)), { recursive: true })
    await writeFile(join(home, path), text)
  }
  return home
}

interface Judged {
  readonly home: string
  readonly behaviour: ScriptedBehaviour
  readonly channel?: Channel
  readonly config?: PolicyConfig
  readonly policy?: PolicyEffectsOptions['policy']
  readonly approve?: HostOptions['approve']
  /** Besides the built-in ones. */
  readonly tools?: readonly Tool[]
  readonly agent?: Partial<AgentOptions>
  readonly host?: Partial<HostOptions>
  readonly store?: Store
  /** Further components of the agent. */
  readonly parts?: readonly (Initial | TagComponent)[]
  /** World tools that it has besides. */
  readonly declared?: readonly ToolDeclaration[]
}

/** An agent with a policy and the built-in tools in `~/projects/app`, under a Runner that is not started. */
export function judged({ behaviour, home, agent = {}, ...rest }: Judged) {
  const { models, requests } = behaving(behaviour)
  const { channel = 'cli', config, declared = [], parts = [], tools = [], store } = rest
  const cwd = join(home, 'projects/app')
  const all = [...builtinTools({ cwd, home, tools: ['core', 'fetch_url'] }), ...tools]
  const world = worldWith({ tools: [...all, ...declared], ...agent })
  const judgedBy = Policy({ channel, cwd, home, configFolder: join(home, '.config/entia'), ...(config && { config }) })
  for (const part of [judgedBy, ...parts]) world.world.add(world.agent, part)
  const { approve, host: more, policy } = rest
  const host = new Host({
    clock: new VirtualClock(),
    models: { ...models, local: models.scripted, ollama: models.scripted },
    sessionPool: new SessionPool(),
    tools: all,
    effects: { ...policyEffects({ ...(policy && { policy }) }) },
    ...(approve && { approve }),
    ...more,
  })
  const run = driven(world.world, { host, ...(store && { store }) })
  return { ...run, agent: world.agent, host, requests, cwd, settle: () => settle(run.runner) }
}

async function settle(runner: { start(): Promise<unknown>; idle(): Promise<unknown> }): Promise<void> {
  await runner.start()
  await runner.idle()
}

/** Calls these tools, one list a step, then says `Done.` */
export function steps(
  ...all: readonly (readonly { readonly name: string; readonly arguments?: object }[])[]
): ScriptedBehaviour {
  return ({ messages }) => {
    const toolCalls = all[messages.filter(({ role }) => role === 'assistant').length]
    return toolCalls === undefined ? 'Done.' : { toolCalls: toolCalls as never }
  }
}

/** What was told of the calls that are settled, in call order. */
export function settledCalls({ told }: Pick<Driven, 'told'>) {
  return told('call-settled').toSorted((one, other) => one.number - other.number)
}

export const call = (name: string, given: Readonly<Record<string, Json>> = {}) => ({ name, arguments: given })
