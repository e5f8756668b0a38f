import { Ceilings } from '../../../components/money/ceilings.ts'
import { DelegationLimits } from '../../../components/sessions/delegation-limits.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { SubagentRegistry } from '../../../components/sessions/subagent-registry.ts'
import { parseModel } from '../../protocol/model-name.ts'
import { toUsd } from '../../rules/money/usd.ts'
import type { ChatSession } from '../../runtime/chat/chat-session.ts'
import { chatStats } from '../../runtime/chat/chat-stats.ts'
import { sessionSetup } from '../../runtime/chat/session-setup.ts'
import { type McpServerOptions, serverDefaults } from './server-options.ts'
import type { ServerPlace } from './server-place.ts'

/** Tools of a subagent by the name of their set. What the server does not have is left out. */
const presets = {
  minimal: words('read_file grep_files'),
  investigate: words('read_file grep_files js_help web_search fetch_url'),
  work: words(
    'read_file grep_files js_help web_search fetch_url bash cmd write_file replace_in_file list_files ' +
      'git_status git_diff git_log run_js',
  ),
}

function words(text: string): readonly string[] {
  return text.split(' ')
}

export type Preset = keyof typeof presets
export const presetNames = Object.keys(presets) as Preset[]

/** What a subagent is told besides its task. */
const prompt =
  'You work on one task for another program. Answer with your result alone. What needs an approval is declined here: ' +
  'do not try it again, report that you are blocked, and by what.'

export interface SubagentTask {
  readonly task: string
  readonly preset?: Preset | undefined
  readonly tools?: readonly string[] | undefined
  readonly model?: string | undefined
}

/**
 * The models behind a server: one chat session of channel `mcp`, made at its first use, whose agent has the subagents that
 * clients spawn and answers `chat`. All that it spends counts against one cap.
 */
export class ServerAgents {
  readonly #options: McpServerOptions
  readonly #place: ServerPlace
  /** In US dollars; `null`: none. */
  readonly capUsd: number | null
  #session: Promise<ChatSession> | undefined
  #spawned = 0

  constructor(options: McpServerOptions, place: ServerPlace) {
    this.#options = options
    this.#place = place
    const { mcpSpendCapUsd = serverDefaults.spendCapUsd } = place.config.subagents ?? {}
    this.capUsd = mcpSpendCapUsd
  }

  /**
   * The chat session, to spend with.
   *
   * @throws Error at or over the cap, and for a model without a price while there is one; what `sessionSetup` throws
   */
  async spending(model?: string): Promise<ChatSession> {
    await this.#refuseAtCap()
    const session = await (this.#session ??= this.#setUp().catch((error: unknown) => {
      this.#session = undefined
      throw error
    }))
    await this.#refuseUnpriced(session, model)
    return session
  }

  /** The chat session, if there is one already. */
  async known(): Promise<ChatSession | undefined> {
    return this.#session
  }

  /** @returns id of the subagent */
  async spawn({ model, preset, task, tools }: SubagentTask): Promise<string> {
    const session = await this.spending(model)
    const { agent, runner, world } = session
    const chosen = tools ?? presets[preset ?? this.#place.config.subagents?.defaultPreset ?? 'investigate']
    const known = runner.host.tools
    const unknown = tools?.find((name) => !known.has(name))
    if (unknown !== undefined)
      throw new Error(`there is no tool '${unknown}'. There are: ${[...known.keys()].join(', ')}.`)
    const name = `subagent-${++this.#spawned}`
    const config = {
      name,
      systemPrompt: prompt,
      tools: chosen.filter((tool) => known.has(tool)),
      maxSteps: 50,
      inheritancePolicy: { inheritSystemPrompt: false, inheritTools: [] },
      ...(model !== undefined && { model: wholeName(session, model) }),
      // Half of what is left each, so that several run side by side and all of them together stay below the cap.
      ...(this.capUsd !== null && { limits: { costUsd: (this.capUsd - spentUsd(session)) / 2 } }),
    }
    await runner.change(() => {
      const { subagents } = world.read(agent, SubagentRegistry)
      world.patch(agent, SubagentRegistry, { subagents: { ...subagents, [name]: config } })
    })
    try {
      const { sessionId } = await runner.subagents(agent).spawn({ category: name, prompt: task, notify: false })
      return sessionId
    } finally {
      await runner.change(() => {
        const { [name]: _, ...subagents } = world.read(agent, SubagentRegistry).subagents
        world.patch(agent, SubagentRegistry, { subagents })
      })
    }
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => undefined)
    await session?.close()
  }

  async #setUp(): Promise<ChatSession> {
    const { allow = [], model, policyFunction, provider, runtime, tools } = this.#options
    const { cwd, env } = this.#place
    const session = await sessionSetup({
      channel: 'mcp',
      cwd,
      env,
      model,
      provider,
      policyFunction,
      permissions: Object.fromEntries(allow.map((name) => [name, 'allow' as const])),
      ...(tools !== undefined && { tools }),
      ...(runtime !== undefined && { host: runtime }),
      store: false,
      // They were told when the server was set up.
      onNotice: () => undefined,
    })
    const { agent, world } = session
    world.add(agent, SubagentRegistry({ subagents: {}, wakeIdle: false }))
    if (this.capUsd !== null) {
      world.add(agent, Ceilings({ maxSessionCostUsd: this.capUsd, onUnpriced: 'refuse' }))
      world.add(agent, DelegationLimits({ costUsd: this.capUsd }))
    }
    await session.start()
    return session
  }

  async #refuseAtCap(): Promise<void> {
    if (this.capUsd === null) return
    const session = await this.#session
    const spent = session === undefined ? 0 : spentUsd(session)
    if (spent < this.capUsd) return
    throw new Error(
      `subagent spend ${spent.toFixed(2)} of ${this.capUsd.toFixed(2)} US$ used; raise subagents.mcpSpendCapUsd`,
    )
  }

  async #refuseUnpriced(session: ChatSession, named: string | undefined): Promise<void> {
    if (this.capUsd === null) return
    const { host } = session.runner
    const model = named === undefined ? session.world.read(session.agent, Llm).model : wholeName(session, named)
    if ((await host.rates(model, host.clock.date())) !== undefined) return
    throw new Error(
      `the model ${model} has no price, and a cap is set. Name another model, or set subagents.mcpSpendCapUsd to null.`,
    )
  }
}

/** A name without its provider is one of the session's. */
function wholeName(session: ChatSession, model: string): string {
  const isWhole = model.includes('/') && session.runner.host.hasProvider(parseModel(model).provider)
  return isWhole ? model : `${session.provider}/${model}`
}

/** What the clients of this process have spent, subagents at work included. */
function spentUsd({ agent, runner, world }: ChatSession): number {
  const running = runner
    .subagents(agent)
    .list({ active: true })
    .reduce((sum, { usage }) => sum + (usage.costNanoUsd ?? 0), 0)
  return chatStats(world, agent).costUsd + toUsd(running)
}
