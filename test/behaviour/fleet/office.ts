import {
  agent,
  type HostOptions,
  memoryStore,
  Runner,
  scripted,
  type ScriptedCall,
  type StandardInput,
  SubagentRegistry,
  type System,
  textOf,
  World,
} from 'entia'
import { Delegated, DelegationLimits, SubagentSession, ToolCall } from 'entia/components'
import { expect, onTestFinished } from 'vitest'
import type { SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import { untilAborted } from '../../../src/base/until-aborted.ts'
import { agentOf } from '../../../src/engine/children/child-run.ts'
import { restored } from '../../../src/engine/loop/stored-ticks.ts'
import { usageOf } from '../../../src/rules/delegation/session-usage.ts'
import type { SharedStore } from '../../../src/stores/port.ts'
import { tool } from '../turns/tools.ts'
import { fleet, known } from './fleet.ts'

/** What a level of an office is asked. */
export interface Asked {
  /** The newest that it was told: its task, or a further question. */
  readonly task: string
  /** How often it has spoken before. */
  readonly spoken: number
}

type Reply = string | { readonly toolCalls: readonly ScriptedCall[] }

export interface OfficeOptions {
  /** What a level says; `undefined`: it thinks until it is cut. */
  readonly says: (asked: Asked) => Promise<Reply | undefined> | Reply | undefined
  /** Of each `clerk`. A `helper` has a quarter of what is left. */
  readonly limits?: { readonly tokens?: number }
  /** Sessions with a slot at once. */
  readonly cap?: number
  /** Keeps no world anywhere but in memory. Of an office in one process. */
  readonly isUnstored?: boolean
  /** In a fleet, those that work from the start. @default three */
  readonly workers?: readonly string[]
}

/** A call that hands a task down. */
export function handsDown(prompt: string, more: Readonly<Record<string, string | number | boolean>> = {}) {
  return { toolCalls: [{ name: 'subagent', arguments: { category: 'clerk', prompt, ...more } }] }
}

/** The world in which this is called cannot go on. */
export const breaks = { toolCalls: [{ name: 'break', arguments: {} }] }
export const looks = { toolCalls: [{ name: 'look', arguments: {} }] }
export const cancelsFirst = { toolCalls: [{ name: 'subagent_cancel', arguments: { session_id: '1' } }] }

/** What each call uses whose reply has come, and what it costs in billionths of a dollar. */
const usage = { input: 100, output: 10 }
export const callNanoUsd = 1_000_000

const look = tool('look', () => 'seen')
const broken = tool('break', () => 'not reached')

/** Fails in the world in which `break` is called. */
const breaking: System = {
  name: 'breaking',
  priority: 1,
  run(world) {
    if (world.query(ToolCall).some((call) => world.read(call, ToolCall).name === 'break')) throw new Error('broken')
  },
}

/** What the worlds of an office are made of. */
export const officeKnown = { ...known, systems: [...known.systems, breaking] }

/** What a Host of an office has, and its root world. */
export function officeParts({ limits, says }: OfficeOptions) {
  const model = scripted(async ({ messages }, context) => {
    const task = textOf(messages.findLast(({ role }) => role === 'user'))
    const spoken = messages.filter(({ role }) => role === 'assistant').length
    const reply = await says({ task, spoken })
    if (reply === undefined) await untilAborted(new Promise(() => undefined), context.signal)
    return typeof reply === 'object' ? { ...reply, usage } : { text: reply ?? 'far too late', usage }
  })
  const host = (): HostOptions => ({
    models: { office: model },
    tools: [look, broken],
    prices: { 'office/clerk': { input: 10, output: 0 } },
  })
  const make = (name: string): World => {
    const world = new World({ name, systems: officeKnown.systems })
    const inheritancePolicy = { inheritTools: ['subagent', 'look', 'break'] }
    world.spawn(
      ...agent({ model: 'office/clerk', tools: [look, broken] }),
      SubagentRegistry({
        subagents: {
          clerk: { name: 'clerk', inheritancePolicy, ...(limits && { limits }) },
          helper: { name: 'helper', inheritancePolicy },
        },
      }),
      DelegationLimits({ depth: 5, costUsd: 10, tokens: 1_000_000 }),
    )
    return world
  }
  return { host, make }
}

/** An office whose root world is `desk`; each level is a session of the one above it. */
export interface Office {
  readonly store: SharedStore
  /** Puts an input into the root world. */
  readonly post: (input: StandardInput, id?: string) => Promise<unknown>
  /** The root world as it is. */
  readonly desk: () => Promise<World>
  /** A session's World as it is stored. */
  readonly session: (id: string) => Promise<World>
}

/** All worlds in one process. */
export async function inOneProcess(options: OfficeOptions): Promise<Office> {
  const store = memoryStore()
  const { host, make } = officeParts(options)
  const runner = new Runner(make('desk'), {
    ...host(),
    ...(options.isUnstored !== true && { store }),
    maxSessions: options.cap ?? 10,
  })
  onTestFinished(async () => {
    await runner.stop()
    await store.close()
  })
  await runner.start()
  return {
    store,
    post: (input, id) => runner.post(input, { ...(id !== undefined && { id }) }),
    desk: async () => runner.world,
    session: (id) => storedIn(store, id),
  }
}

export type FleetOffice = Office & Omit<ReturnType<typeof fleet>, 'post'>

/** Worlds driven by three workers, each with room for two sessions. */
export async function inThreeProcesses(options: OfficeOptions): Promise<FleetOffice> {
  const made = fleet({ ...officeParts(options), systems: officeKnown.systems, cap: options.cap ?? 10 })
  for (const name of options.workers ?? ['one', 'two', 'three']) made.worker(name, { maxSessions: 2 })
  return {
    ...made,
    post: (input, id) => made.post('desk', input, id),
    desk: () => made.read('desk'),
    session: (id) => storedIn(made.store, id),
  }
}

async function storedIn(store: SharedStore, id: string): Promise<World> {
  const stored = await store.read(id, { root: 'desk' })
  if (stored === undefined) throw new Error(`there is no session ${id}`)
  return restored(id, stored, officeKnown).world
}

export const message = (text: string): StandardInput => ({
  kind: 'message',
  agent: 1,
  message: { role: 'user', content: [{ type: 'text', text }] },
})

export function sessionsIn(world: World): readonly SubagentSessionData[] {
  return world.entitiesWith(SubagentSession).map((session) => world.read(session, SubagentSession))
}

/** Resolves once the root world knows what all its sessions have spent. */
export async function allKnown({ desk }: Office, sessions = 1): Promise<void> {
  await expect
    .poll(async () => sessionsIn(await desk()).filter(({ usage: spent }) => spent !== undefined).length)
    .toBe(sessions)
}

/** What the root world counts for its sessions. */
export async function totals({ desk }: Office) {
  const world = await desk()
  const { spentCostNanoUsd, spentSessions, spentTokens, unknownCosts } = world.read(1, Delegated)
  const { reservedCostNanoUsd, reservedSessions, reservedTokens } = world.read(1, Delegated)
  const spent = { costNanoUsd: spentCostNanoUsd, sessions: spentSessions, tokens: spentTokens, unknownCosts }
  const reserved = [reservedCostNanoUsd, reservedSessions, reservedTokens]
  return { spent, reserved, sessions: sessionsIn(world).map(({ status, usage: used }) => ({ status, used })) }
}

/** What each session says in its World that it has spent is what the world above it counts. */
export async function expectCounted({ desk, session }: Office): Promise<void> {
  const below = async (world: World): Promise<void> => {
    for (const { sessionId, usage: counted } of sessionsIn(world)) {
      const itsWorld = await session(sessionId)
      expect(counted, sessionId).toEqual(usageOf(itsWorld, agentOf(itsWorld), []))
      await below(itsWorld)
    }
  }
  await below(await desk())
}
