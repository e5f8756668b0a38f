import { CostCeiling } from '../../components/money/ceilings.ts'
import { SlotReleased } from '../../components/sessions/ancestry.ts'
import {
  AllowanceAwaited,
  Busy,
  Paused,
  RatesAwaited,
  Summarizing,
  Terminal,
} from '../../components/agent/agent-tags.ts'
import { Conversation, Unread } from '../../components/agent/conversation.ts'
import { Llm } from '../../components/agent/llm.ts'
import { WatchdogLatch } from '../../components/agent/watchdog-state.ts'
import { SubagentWait } from '../../components/sessions/subagent-wait.ts'
import type { Component, Entity } from '../../src/world/component.ts'
import { not } from '../../src/world/entities.ts'
import type { World } from '../../src/world/world.ts'
import { Requested } from '../../components/agent/tool-call.ts'

/** Each of these holds an agent's next step until something is fetched, written or reset. */
const holds = [AllowanceAwaited, CostCeiling, RatesAwaited, Summarizing, WatchdogLatch]

const notReady = [Busy, Paused, SlotReleased, SubagentWait, Terminal, ...holds]
const ready = [Llm, Conversation, Unread, ...notReady.map(not)]

export function isStepHeld(world: World, agent: Entity): boolean {
  return holds.some((token) => world.has(agent, token))
}

/**
 * The first `count` agents that have something to answer and nothing running, ascending.
 * @param also only agents with these components, out of twice as many: some of the first may be held before they start.
 * They are checked one by one, so that no query has to be kept up to date for few agents.
 */
export function readyAgents(world: World, count: number, ...also: readonly Component[]): readonly Entity[] {
  const soon = soonReady(world, count)
  if (also.length > 0) return soon.filter((agent) => hasAll(world, agent, also))
  return soon.length <= count ? soon : soon.slice(0, count)
}

function hasAll(world: World, agent: Entity, tokens: readonly Component[]): boolean {
  for (const token of tokens) if (!world.has(agent, token)) return false
  return true
}

/** Twice as many: some of the first may be held before they start. */
export function soonReady(world: World, count: number): readonly Entity[] {
  return world.first(2 * count, ...ready)
}

/** The first `count` undecided tool calls, ascending. */
export function requestedCalls(world: World, count: number): readonly Entity[] {
  const calls = soonRequested(world, count)
  return calls.length <= count ? calls : calls.slice(0, count)
}

/** Twice as many: some of the first may be refused before they are decided. */
export function soonRequested(world: World, count: number): readonly Entity[] {
  return world.first(2 * count, Requested)
}
