import type { HostFactsData } from '../../protocol/host.ts'
import { Llm } from '../../../components/agent/llm.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { approvalEffect } from '../../engine/effects/approval-effect.ts'
import type { EffectKind } from '../../engine/effects/effect-kind.ts'
import { Host } from '../../engine/effects/host.ts'
import type { HostOptions } from '../../engine/effects/host-options.ts'
import type { HostSeams } from '../../engine/effects/host-seams.ts'
import { modelEffect } from '../../engine/effects/model-effect.ts'
import { ratesEffect } from '../../engine/effects/rates-effect.ts'
import { toolEffect } from '../../engine/effects/tool-effect.ts'
import { parseModel } from '../../protocol/model-name.ts'
import type { ModelProvider } from '../../models/port.ts'
import { builtInProviders } from '../../models/providers.ts'
import type { Tool } from '../../tools/port.ts'
import { canonical } from '../../world/canonical.ts'
import type { World } from '../../world/world.ts'
import type { SimulatedWork } from '../simulated-work.ts'
import type { RecordedAnswers } from './recorded-answers.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import { ToolCall } from '../../../components/agent/tool-call.ts'
import type { Entity } from '../../world/component.ts'
import type { RecordedCall } from './answer-book.ts'

interface RecordedHostParts {
  readonly answers: RecordedAnswers
  readonly recall: Recall
  readonly work: SimulatedWork
  readonly world: World
}

/** A Host that answers effects from a recording. Its worlds see the facts of the recorded Host. */
export function recordedHost(options: HostOptions, seams: HostSeams, parts: RecordedHostParts): Host {
  const { answers, recall, work } = parts
  const inner: Record<string, EffectKind> = {
    model: modelEffect({
      provider: (name) => host.provider(name),
      priced: (model, usage, dateMs) => host.priced(model, usage, dateMs),
      hold: (name, durationMs) => host.hold(name, durationMs),
    }),
    tool: toolEffect((name) => host.tool(name)),
    approval: approvalEffect(options.approve),
    rates: ratesEffect({
      rates: (model, dateMs) => host.rates(model, dateMs),
      priced: (model, usage, dateMs) => host.priced(model, usage, dateMs),
    }),
    ...options.effects,
  }
  for (const { asked } of answers.calls) inner[asked.kind] ??= unknownKind
  const kinds = Object.entries(inner)
  const effects = Object.fromEntries(kinds.map(([kind, how]) => [kind, recordedEffect(kind, how, recall, work)]))
  const models = { ...standInProviders(parts), ...options.models }
  const tools = [...(options.tools ?? []), ...standInTools(options, parts)]
  const host: Host = new RecordedHost({ ...options, models, tools, effects }, seams, (own) =>
    merged(own, answers.facts, options),
  )
  return host
}

class RecordedHost extends Host {
  readonly #facts: HostFactsData

  constructor(options: HostOptions, seams: HostSeams, facts: (own: HostFactsData) => HostFactsData) {
    super(options, seams)
    this.#facts = facts(super.facts(true))
  }

  override facts(): HostFactsData {
    return this.#facts
  }
}

/** Facts of what the options name, and recorded facts of everything else. */
function merged(own: HostFactsData, recorded: HostFactsData | undefined, options: HostOptions): HostFactsData {
  if (recorded === undefined) return own
  const given = { ...options.models }
  const retry = mixed(own.retry, recorded.retry, Object.keys(given))
  const settings = mixed(own.settings, recorded.settings, Object.keys(given))
  const skills = mixed(own.skills, recorded.skills, options.skills?.map(({ name }) => name) ?? [])
  const tools = mixed(own.tools, recorded.tools, options.tools?.map(({ declaration }) => declaration.name) ?? [])
  const filled = Object.entries({ settings, skills, tools }).filter(([, values]) => Object.keys(values).length > 0)
  const { keepsSessions } = recorded
  const facts = { ...(keepsSessions && { keepsSessions }), retry, ...Object.fromEntries(filled) }
  return canonical(facts, () => 'the facts of a Host') as HostFactsData
}

function mixed<T>(
  own: Readonly<Record<string, T>> = {},
  recorded: Readonly<Record<string, T>> = {},
  given: readonly string[],
): Record<string, T> {
  const kept = Object.entries(recorded).filter(([name]) => !given.includes(name))
  const other = Object.entries(own).filter(([name]) => given.includes(name))
  return Object.fromEntries([...kept, ...other])
}

/** Stand-ins for all providers not in the options, including the built-in ones, so that none is called. */
function standInProviders({ answers, world }: RecordedHostParts): Record<string, ModelProvider> {
  const recorded = answers.calls.filter(({ asked }) => asked.kind === 'model').map(({ asked }) => asked.name)
  const agents = world.entitiesWith(Llm)
  const models = [...recorded, ...agents.map((agent) => world.read(agent, Llm).model)]
  const names = new Set([...Object.keys(builtInProviders()), ...models.map((model) => parseModel(model).provider)])
  return Object.fromEntries(Array.from(names, (name) => [name, { call: callNobody }]))
}

/** Stand-ins for tools that were recorded or are declared, and are not in the options. */
function standInTools(
  { tools = [], skills = [] }: HostOptions,
  { answers, world }: RecordedHostParts,
): readonly Tool[] {
  const given = [...tools, ...skills.flatMap((skill) => skill.tools ?? [])].map(({ declaration }) => declaration.name)
  const registries = world.entitiesWith(ToolRegistry).map((agent) => world.read(agent, ToolRegistry).tools)
  const requests = answers.calls.flatMap(({ asked }) => (asked.request === undefined ? [] : [asked.request.tools]))
  const byName = new Map<string, ToolDeclaration>()
  for (const declarations of new Set([...requests, ...registries])) {
    for (const declaration of declarations) if (declaration.world !== true) byName.set(declaration.name, declaration)
  }
  for (const name of given) byName.delete(name)
  return Array.from(byName.values(), (declaration) => ({ declaration, call: callNobody }))
}

async function callNobody(): Promise<never> {
  throw new Error('A replay calls no model and no tool.')
}

const unknownKind: EffectKind = { prepare: () => undefined }

/** Finds the recorded call of an effect. `scripted`: none, perform it; `broken`: none, and the run ends. */
export type Recall = (world: World, effect: Entity) => RecordedCall | 'scripted' | 'broken'

/**
 * Answers effects of a kind from a recording, with its latency. @param inner performs those that the recording lacks
 */
function recordedEffect(kind: string, inner: EffectKind, recall: Recall, work: SimulatedWork): EffectKind {
  return {
    isWaiting: inner.isWaiting ?? false,
    queue: (world, effect) => inner.queue?.(world, effect),
    prepare(world, effect) {
      const found = recall(world, effect)
      if (found === 'scripted') return inner.prepare(world, effect)
      const { kept, latencyMs, outcome } = answerOf(found)
      if (kind !== 'model' && kind !== 'tool') return ({ sleep }) => sleep(latencyMs).then(() => outcome)
      const name = nameOf(kind, world, effect)
      return ({ attempt, key, sleep, values, wait }) =>
        work.call({ kind, name, key, attempt }, sleep, async (call) => {
          let passedMs = 0
          for (const { input, latencyMs: keptMs } of kept) {
            await call.does(() => undefined, keptMs - passedMs)
            await wait(values.enter({ ...input, attempt, effect }))
            passedMs = keptMs
          }
          return call.does(() => outcome, latencyMs - passedMs)
        })
    },
  }
}

/** Without a recorded outcome, something else settles the effect: the answer never arrives. */
function answerOf(call: RecordedCall | 'broken'): Pick<RecordedCall, 'kept' | 'latencyMs'> & {
  readonly outcome: OutcomeData
} {
  const kept = call === 'broken' ? [] : call.kept
  if (call !== 'broken' && typeof call.outcome !== 'string') {
    return { kept, latencyMs: call.latencyMs, outcome: call.outcome }
  }
  const failure = { kind: 'cancelled', message: 'Nothing was recorded.' } as const
  return { kept, latencyMs: Infinity, outcome: { ok: false, failure } }
}

function nameOf(kind: 'model' | 'tool', world: World, effect: Entity): string {
  if (kind === 'tool') return world.read(effect, ToolCall).name
  return parseModel(world.read(world.read(effect, OwnedBy).agent, Llm).model).provider
}
