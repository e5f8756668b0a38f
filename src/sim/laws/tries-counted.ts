import { Effect, OwnedBy, Pending, Running } from '../../../components/effects/effect.ts'
import { HostFacts } from '../../../components/agent/host-facts.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { ModelCall, SideCall } from '../../../components/effects/model-call.ts'
import { type RetryPolicy, standardRetry } from '../../protocol/failure.ts'
import type { InputOf } from '../../protocol/input.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Law, WatchedTick } from '../law.ts'

interface Tries {
  attempt: number
  /** The last try it was set to start. */
  asked: number
  /** Tries made with another request, which no policy counts. */
  others: number
}

interface WorldTries {
  readonly byEffect: Map<Entity, Tries>
  /** The newest try that started since the world was restored. */
  readonly begun: Map<Entity, number>
}

export const triesCounted: Law = {
  name: 'tries-counted',
  meaning: 'Each try has the next number and begins once, only the newest is settled, and none is beyond the policy.',
  watch() {
    const worlds = new Map<string, WorldTries>()
    return {
      began({ label, world }) {
        const byEffect = new Map<Entity, Tries>()
        const before = worlds.get(label)?.byEffect
        for (const effect of world.entitiesWith(Effect)) {
          const { attempt } = world.read(effect, Effect)
          const asked = isAsked(world, effect) ? attempt : 0
          byEffect.set(effect, { attempt, asked, others: before?.get(effect)?.others ?? 0 })
        }
        worlds.set(label, { byEffect, begun: new Map() })
      },
      ticked(tick) {
        const tries = worlds.get(tick.label)?.byEffect
        if (tries === undefined) return undefined
        const finding = stale(tick, tries) ?? numbers(tick, tries) ?? begins(tick, tries)
        for (const entity of tick.step.delta.despawned ?? []) tries.delete(entity)
        return finding
      },
      called({ attempt, effect, label, name }) {
        const begun = worlds.get(label)?.begun
        const before = begun?.get(effect) ?? 0
        begun?.set(effect, attempt)
        if (attempt > before) return undefined
        return `'${name}' begins for effect ${effect}, try ${attempt}, and try ${before} has begun before`
      },
    }
  },
}

function isAsked(world: World, effect: Entity): boolean {
  return world.has(effect, Pending) || world.has(effect, Running)
}

function stale({ step: { events, inputs } }: WatchedTick, tries: ReadonlyMap<Entity, Tries>): Finding {
  let counts: Map<Entity, number> | undefined
  for (const input of inputs) {
    if (input.kind !== 'outcome' && input.kind !== 'due') continue
    const { attempt, effect } = input as InputOf<'due'>
    if (attempt >= (tries.get(effect)?.attempt ?? 0)) continue
    counts ??= new Map()
    counts.set(effect, (counts.get(effect) ?? 0) + 1)
  }
  for (const [effect, count] of counts ?? []) {
    const dropped = events.filter(({ effect: of, type }) => type === 'input-dropped' && of === effect).length
    if (dropped < count) return `the input for an earlier try of effect ${effect} was not dropped`
  }
  return undefined
}

function numbers(tick: WatchedTick, tries: Map<Entity, Tries>): Finding {
  for (const [effect, { attempt, kind }] of tick.changes.of(Effect).set) {
    const known = tries.get(effect)
    const before = known?.attempt ?? 0
    // An entity that gets a new effect continues after the number of the tick.
    const isNext = attempt === before + 1
    if (attempt !== before && !isNext && !(attempt > before && attempt === tick.world.tick + 1)) {
      return `the ${kind} effect ${effect} goes from try ${before} to try ${attempt}`
    }
    if (known === undefined) {
      tries.set(effect, { attempt, asked: 0, others: 0 })
      continue
    }
    const isAnother = isNext && tick.changes.of(SideCall).set.some(([asked]) => asked === effect)
    if (isAnother) known.others++
    const problem = isNext && !isAnother && kind === 'model' ? beyond(tick, effect, known) : undefined
    if (problem !== undefined) return problem
    known.attempt = attempt
  }
  return undefined
}

function beyond({ step, world }: WatchedTick, effect: Entity, { attempt, others }: Tries): Finding {
  const policy = policyOf(world, effect)
  if (policy === undefined) return undefined
  const next = attempt + 1
  if (policy === false) return `model call ${effect} is tried again, and its policy is to try it once`
  if (next - others > policy.maxAttempts)
    return `model call ${effect} is at try ${next}, and may have ${policy.maxAttempts}`
  const isWorthIt = step.inputs.some((input) => {
    if (input['effect'] !== effect || input['attempt'] !== attempt) return false
    if (input.kind === 'due') return policy.kinds.includes('timed-out')
    const { outcome } = input as InputOf<'outcome'>
    if (input.kind !== 'outcome' || outcome.ok) return false
    const { isFinal, kind, retryAfterMs = 0 } = outcome.failure
    return isFinal !== true && retryAfterMs <= (policy.maxRetryAfterMs ?? 600_000) && policy.kinds.includes(kind)
  })
  return isWorthIt ? undefined : `model call ${effect} is tried again for nothing that its policy names`
}

/** The agent's policy, else its provider's, else the standard one. */
function policyOf(world: World, effect: Entity): RetryPolicy | false | undefined {
  const side = world.get(effect, SideCall)
  const agent = side?.agent ?? (world.has(effect, ModelCall) ? world.get(effect, OwnedBy)?.agent : undefined)
  const llm = agent === undefined ? undefined : world.get(agent, Llm)
  if (llm === undefined) return undefined
  if (llm.retry !== undefined) return llm.retry
  const [provider = ''] = (side?.model ?? llm.model).split('/')
  const [host] = world.entitiesWith(HostFacts)
  return (host === undefined ? undefined : world.read(host, HostFacts).retry[provider]) ?? standardRetry
}

function begins({ changes, world }: WatchedTick, tries: ReadonlyMap<Entity, Tries>): Finding {
  for (const [effect] of changes.of(Pending).set) {
    const known = tries.get(effect)
    if (known === undefined) continue
    if (known.asked === known.attempt) {
      return `the ${world.get(effect, Effect)?.kind} effect ${effect} begins again, and is at try ${known.attempt} still`
    }
    known.asked = known.attempt
  }
  return undefined
}
