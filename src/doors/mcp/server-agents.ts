import { Ceilings } from '../../../components/money/ceilings.ts'
import { DelegationLimits } from '../../../components/sessions/delegation-limits.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { parseModel } from '../../protocol/model-name.ts'
import { toUsd } from '../../rules/money/usd.ts'
import type { ChatSession } from '../../runtime/chat/chat-session.ts'
import { chatStats } from '../../runtime/chat/chat-stats.ts'
import { sessionSetup } from '../../runtime/chat/session-setup.ts'
import { spawnSubagent, type SpawnSubagentOptions } from '../../runtime/subagents/chat-subagents.ts'
import { type McpServerOptions, serverDefaults } from './server-options.ts'
import type { ServerPlace } from './server-place.ts'

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

  /**
   * Half of what is left for one subagent, so that several run side by side and all of them together stay below the cap.
   *
   * @returns its id
   */
  async spawn(asked: Omit<SpawnSubagentOptions, 'approvals' | 'costUsd'>): Promise<string> {
    const session = await this.spending(asked.model)
    const costUsd = this.capUsd === null ? undefined : (this.capUsd - spentUsd(session)) / 2
    return spawnSubagent(session, { ...asked, costUsd })
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
