import { Blueprint, MadeFrom } from '../../components/sessions/blueprint.ts'
import { Delegated } from '../../components/sessions/delegation-limits.ts'
import { Effect, Pending } from '../../components/effects/effect.ts'
import { Permissions } from '../../components/agent/tool-registry.ts'
import {
  type SubagentConfig,
  SubagentRegistry,
  type SubagentRegistryData,
} from '../../components/sessions/subagent-registry.ts'
import { ActiveFor, SubagentSession, type SubagentSessionData } from '../../components/sessions/subagent-session.ts'
import { allNames } from '../../src/rules/delegation/permissions.ts'
import { emptyShare, exhausted } from '../../src/rules/delegation/grants.ts'
import type { DeepReadonly, Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit } from '../kit.ts'
import { blueprintFor, planFork } from './blueprints.ts'
import { delegatedBy, depthLeft, isBelowFork, leftToDelegate, type Refusal, emitIfNeared } from './delegation.ts'
import { indexSession } from '../../src/rules/delegation/find-session.ts'
import { Llm } from '../../components/agent/llm.ts'
import { freeFormConfig } from '../../src/rules/delegation/plan-child.ts'
import { isOneLine } from '../../src/base/option-shapes.ts'
import { byCodePoint } from '../../src/base/by-code-point.ts'
import { isFinal } from '../../src/protocol/delegation.ts'
import { knownHost } from '../../src/rules/projection/host-facts.ts'

export interface LaunchRequest {
  readonly category?: string | undefined
  /** Of a subagent outside the registry, instead of a category. */
  readonly config?: SubagentConfig
  /** Tool calls that need an approval are denied. */
  readonly approvals?: 'denied'
  /** Its record says when it was launched. @default false */
  readonly isDated?: boolean | undefined
  readonly prompt: string
  readonly loadSkills: readonly string[]
  /** Who names the skills. @default a model */
  readonly loadedBy?: 'program' | undefined
  /** Names of tools denied to it, besides those denied to the agent. @default none */
  readonly denied?: readonly string[] | undefined
  readonly mode: 'sync' | 'background'
  readonly timeoutMs: number | undefined
  /** @default one of its own */
  readonly correlationId?: string
  /** Whether its end leaves a notification, in the background. @default true */
  readonly notify?: boolean
  /** Of the requesting tool call. Absent: a program launches. */
  readonly callId?: string
  readonly resumedFrom?: string
  /** Of a resumed session whose prompt was too long for the record. */
  readonly promptRecord?: string
  /** What a resumed fork or worker was made from. */
  readonly captured?: { readonly blueprint: Entity; readonly from: Entity }
}

/** A decided launch, before anything is written. */
interface Launch {
  readonly kind: SubagentSessionData['kind']
  readonly category: string
  readonly mode: SubagentSessionData['mode']
  readonly blueprint: Entity
  /** Names of tools denied above it. */
  readonly denied: readonly string[]
  readonly warnings: readonly string[]
  readonly prefixHash?: string | null
}

/** Launches a session as queued, or returns why not and writes nothing. */
export function launchSession(world: World, agent: Entity, request: LaunchRequest): Entity | Refusal {
  const launch = decide(world, agent, request)
  if ('code' in launch) return launch
  const session = spawnSession(world, agent, request, launch)
  for (const message of launch.warnings) emit(world, 'warning', { agent, message })
  return session
}

function decide(world: World, agent: Entity, request: LaunchRequest): Launch | Refusal {
  const denied = allNames(request.denied, world.get(agent, Permissions)?.denied)
  if (request.captured !== undefined) return decideCaptured(world, agent, denied, request.captured)
  const { config: made } = request
  const chosen =
    made === undefined ? chooseSubagent(world, agent, request.category) : { kind: 'free' as const, config: made }
  if ('code' in chosen) return chosen
  if (chosen.kind === 'fork' && request.loadSkills.length > 0) {
    const message = 'a fork takes no further skills: they would change the prompt that it shares'
    return { code: 'invalid-argument', field: 'load_skills', message }
  }
  const short = limitReached(world, agent, chosen.kind === 'fork' ? undefined : chosen.config.limits)
  if (short !== undefined) return short
  if (chosen.kind === 'fork') {
    const fork = planFork(world, agent, request.callId)
    return { kind: 'fork', category: 'fork', mode: 'background', denied, warnings: [], ...fork }
  }
  const { config, kind } = chosen
  const isBackground = request.mode === 'background'
  const { approvals, loadedBy, loadSkills } = request
  const isDenied = approvals !== undefined && { approvals }
  const asked = { config, denied, isBackground, isCaptured: made !== undefined, loadedBy, loadSkills, ...isDenied }
  const plan = blueprintFor(world, agent, asked)
  return 'code' in plan ? plan : { kind, category: config.name, denied, mode: request.mode, ...plan }
}

function decideCaptured(
  world: World,
  agent: Entity,
  denied: readonly string[],
  { blueprint, from }: Required<LaunchRequest>['captured'],
): Launch | Refusal {
  const { category, kind, prefixHash } = world.read(from, SubagentSession)
  const { limits } = world.read(blueprint, Blueprint)
  const short = limitReached(world, agent, limits)
  if (short !== undefined) return short
  const shared = kind === 'fork' && { prefixHash: prefixHash ?? null }
  return { kind, category, mode: 'background', blueprint, denied, warnings: [], ...shared }
}

/** @param wanted what the config asks to be granted */
function limitReached(world: World, agent: Entity, wanted: SubagentConfig['limits']): Refusal | undefined {
  const left = leftToDelegate(world, agent)
  const short = exhausted(left, depthLeft(world, agent)) ?? emptyShare(left, wanted)
  return short === undefined ? undefined : { code: 'limit-reached', message: `Delegation limit reached: ${short}` }
}

function spawnSession(world: World, agent: Entity, request: LaunchRequest, launch: Launch): Entity {
  const { kind, category, mode, blueprint, denied, prefixHash } = launch
  const { isDated, prompt, loadSkills, loadedBy, timeoutMs, notify = true, promptRecord, resumedFrom } = request
  const delegated = delegatedBy(world, agent)
  const { holders = 0, launched } = delegated
  const sequence = launched + holders + 1
  const sessionId = world.newId('session')
  const correlationId = request.correlationId ?? world.newId('delegation')
  const session = world.spawn()
  world.set(session, SubagentSession, {
    category,
    correlationId,
    createdAtMs: world.nowMs,
    ...(isDated === true && { createdAtDateMs: world.dateMs }),
    ...(denied.length > 0 && { denied: [...denied] }),
    kind,
    ...(loadSkills.length > 0 && { loadSkills: [...loadSkills], ...(loadedBy !== undefined && { loadedBy }) }),
    mode,
    model: world.read(blueprint, Blueprint).llm.model,
    ...(!notify && { notify }),
    parent: agent,
    ...(prefixHash !== undefined && { prefixHash }),
    prompt,
    ...(promptRecord !== undefined && { promptRecord }),
    ...(resumedFrom !== undefined && { resumedFrom }),
    sequence,
    sessionId,
    status: 'queued',
    ...(timeoutMs !== undefined && { timeoutMs }),
    updatedAtMs: world.nowMs,
  })
  world.set(session, ActiveFor, { agent })
  world.set(session, MadeFrom, { blueprint })
  world.set(session, Effect, { attempt: 1, kind: 'session', restart: 'resumable' })
  world.add(session, Pending)
  world.set(agent, Delegated, { ...delegated, launched: launched + 1 })
  indexSession(world, session, sessionId)
  emit(world, 'session-queued', { agent, session, sessionId, sequence, correlationId })
  emitIfNeared(world, agent)
  return session
}

export type Chosen = { readonly kind: 'named' | 'free'; readonly config: SubagentConfig } | { readonly kind: 'fork' }

const noRegistry: DeepReadonly<SubagentRegistryData> = { subagents: {} }

/** Resolves a category: a registered name, then `fork`, then any name if free-form is on. */
function chooseSubagent(world: World, agent: Entity, category: string | undefined): Chosen | Refusal {
  const registry = world.get(agent, SubagentRegistry) ?? noRegistry
  const { subagents, defaultCategory, fork, freeForm } = registry
  const forks = fork?.enabled ?? true
  if (category === undefined) {
    const config = defaultCategory === undefined ? undefined : own(subagents, defaultCategory)
    if (config !== undefined) return { kind: 'named', config }
    if (forks) return checkedFork(world, agent)
    return { code: 'invalid-argument', field: 'category', message: 'expected the name of a subagent' }
  }
  const name = category.trim()
  if (name === '') return { code: 'invalid-argument', field: 'category', message: 'expected a text that is not empty' }
  const config = own(subagents, name)
  if (config !== undefined) return { kind: 'named', config }
  if (name === 'fork' && forks) return checkedFork(world, agent)
  if (!isOneLine(name)) {
    return { code: 'invalid-argument', field: 'category', message: 'expected a name on one line, without line breaks' }
  }
  if (freeForm?.enabled === true && name !== 'fork') {
    if (world.has(agent, Llm)) return { kind: 'free', config: freeFormConfig(name, freeForm) }
    const message = `Unknown subagent '${name}' cannot be created without a parent model`
    return { code: 'invalid-argument', message }
  }
  const names = Object.keys(subagents).toSorted(byCodePoint).join(', ')
  return {
    code: 'invalid-argument',
    message: `Unknown subagent '${name}'. Available subagents: ${names === '' ? 'none' : names}`,
  }
}

function checkedFork(world: World, agent: Entity): Chosen | Refusal {
  if (isBelowFork(world, agent)) {
    return { code: 'limit-reached', message: 'A fork cannot fork; carry out the directive yourself' }
  }
  if (!world.has(agent, Llm)) return { code: 'invalid-argument', message: 'Cannot fork: the agent has no model' }
  return { kind: 'fork' }
}

function own(subagents: Readonly<Record<string, SubagentConfig>>, name: string): SubagentConfig | undefined {
  return Object.hasOwn(subagents, name) ? subagents[name] : undefined
}

/** Launches a session that resumes a failed, timed-out or cancelled one, whose record stays unchanged. */
export function resumeSession(
  world: World,
  old: Entity,
  correlationId?: string,
): { readonly session: Entity; readonly isContinued: boolean } | Refusal {
  const {
    category,
    denied,
    loadedBy,
    loadSkills = [],
    parent,
    prompt,
    promptCut,
    promptRecord,
    sessionId,
    startedAtMs,
    status,
    timeoutMs,
  } = world.read(old, SubagentSession)
  if (!isFinal(status) || status === 'succeeded') {
    const advice = 'Only failed, timed_out, or cancelled sessions can be resumed.'
    const message = `Session ${sessionId} is not in a resumable state: ${status}. ${advice}`
    return { code: 'invalid-argument', message }
  }
  if (promptCut !== undefined) {
    const { bytes, maxBytes } = promptCut
    const why = `its prompt has ${bytes} bytes, and a world without a store keeps ${maxBytes} of it (maxRecordBytes)`
    return { code: 'limit-reached', message: `Session ${sessionId} cannot be resumed: ${why}. Launch it anew.` }
  }
  const captured = world.get(old, MadeFrom)?.blueprint
  const launched = launchSession(world, parent, {
    category,
    prompt,
    denied,
    loadedBy,
    loadSkills,
    mode: 'background',
    timeoutMs,
    resumedFrom: sessionId,
    ...(promptRecord !== undefined && { promptRecord }),
    ...(captured !== undefined && { captured: { blueprint: captured, from: old } }),
    ...(correlationId !== undefined && { correlationId }),
  })
  if (typeof launched !== 'number') return launched
  const keeps = knownHost(world)?.keepsSessions === true
  return { session: launched, isContinued: keeps && startedAtMs !== undefined }
}
