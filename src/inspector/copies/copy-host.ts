import { HostFacts } from '../../../components/agent/host-facts.ts'
import { ToolCall } from '../../../components/agent/tool-call.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { Effect, OwnedBy } from '../../../components/effects/effect.ts'
import { approvalEffect } from '../../engine/effects/approval-effect.ts'
import type { EffectKind } from '../../engine/effects/effect-kind.ts'
import { Host } from '../../engine/effects/host.ts'
import { SessionPool } from '../../engine/children/pool.ts'
import type { Clock } from '../../engine/loop/clock.ts'
import type { ModelProvider } from '../../models/port.ts'
import type { HostFactsData } from '../../protocol/host.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { Tool } from '../../tools/port.ts'
import type { Entity } from '../../world/component.ts'
import type { Json } from '../../base/json.ts'
import type { World } from '../../world/world.ts'
import { type CopyBook, isOwn } from './copy-book.ts'
import type { CopyQuestion } from '../reading/wire.ts'

export interface CopyHostParts {
  readonly book: CopyBook
  readonly clock: Clock
  /** The Host of the living program; absent: models answer from the recording alone. */
  readonly living: Host | undefined
  /** The copy, for what it knows of its Host. */
  readonly world: World
  /** Asks a person what a tool, or another kind of work, gives. Absent: nobody is there. */
  readonly ask: ((question: Omit<CopyQuestion, 'id'>, signal: AbortSignal) => Promise<PersonsAnswer>) | undefined
  /** Something is asked that never was, and that nobody answers. */
  readonly missed: (message: string) => void
  /** Whether a person has approved this call in the copy. */
  readonly isApproved: (world: string, call: Entity) => boolean
}

/** `run`: the program's own tool. */
export type PersonsAnswer =
  | { readonly how: 'run' }
  | { readonly how: 'give'; readonly text: string }
  | { readonly how: 'refuse'; readonly reason?: string | undefined }

/**
 * Drives copies. Models are those of the living program, or answer as recorded. What reaches outside never simply runs: it is
 * answered as recorded, or by a person.
 */
export class CopyHost extends Host {
  readonly #parts: CopyHostParts
  readonly #facts: HostFactsData | undefined
  readonly #declared: ReadonlyMap<string, ToolDeclaration>
  readonly #approval: EffectKind
  readonly #outside: EffectKind
  readonly #model: EffectKind

  constructor(parts: CopyHostParts) {
    super({ clock: parts.clock, sessionPool: new SessionPool(), approve: 'by-input' })
    this.#parts = parts
    const { world } = parts
    const [host] = world.entitiesWith(HostFacts)
    const { keptTools: _, ...facts } = host === undefined ? { retry: {} } : world.read(host, HostFacts)
    this.#facts = facts
    const registries = world.entitiesWith(ToolRegistry).map((agent) => world.read(agent, ToolRegistry).tools)
    this.#declared = new Map([...parts.book.tools, ...registries.flat().map((tool) => [tool.name, tool] as const)])
    this.#approval = this.#recorded(approvalEffect('by-input'), true)
    this.#outside = this.#recorded({ prepare: (asking, effect) => this.#asked(asking, effect) })
    this.#model = this.#recorded({ prepare: (asking, effect) => this.#never(asking, effect) })
  }

  override facts(isKept: boolean): HostFactsData {
    return this.#parts.living?.facts(isKept) ?? this.#facts ?? super.facts(isKept)
  }

  override tool(name: string): Tool | undefined {
    const found = this.#parts.living?.tool(name)
    if (found !== undefined) return found
    const declaration = this.#declared.get(name)
    return declaration && { declaration, call: callNobody }
  }

  override hasProvider(name: string): boolean {
    return this.#parts.living?.hasProvider(name) ?? true
  }

  override get providerNames(): readonly string[] {
    return this.#parts.living?.providerNames ?? super.providerNames
  }

  override provider(name: string): ModelProvider {
    return this.#parts.living?.provider(name) ?? { call: callNobody }
  }

  override skill(name: string): ReturnType<Host['skill']> {
    return this.#parts.living?.skill(name)
  }

  override priced(...call: Parameters<Host['priced']>): ReturnType<Host['priced']> {
    return this.#parts.living?.priced(...call) ?? super.priced(...call)
  }

  override rates(...of: Parameters<Host['rates']>): ReturnType<Host['rates']> {
    return this.#parts.living?.rates(...of) ?? super.rates(...of)
  }

  override kind(name: string): EffectKind {
    const { living } = this.#parts
    if (name === 'approval') return this.#approval
    if (name === 'model') return living === undefined ? this.#model : super.kind(name)
    if (isOwn(name)) return super.kind(name)
    // It looks where paths lead, and changes nothing.
    if (name === 'inspect' && living !== undefined) return living.kind(name)
    return this.#outside
  }

  /** Answers as recorded; what never was asked goes to another. */
  #recorded(other: EffectKind, isWaiting = false): EffectKind {
    const { book } = this.#parts
    return {
      isWaiting,
      prepare: (world, effect) => {
        const found = book.take(world, effect)
        if (found === undefined) return other.prepare(world, effect)
        const { latencyMs, outcome } = found
        if (outcome === 'never') return undefined
        // The recording's pace is kept where time is not a person's.
        const waitMs = this.#parts.living === undefined ? latencyMs : 0
        return async ({ sleep }): Promise<OutcomeData> => {
          await sleep(waitMs)
          return outcome
        }
      },
    }
  }

  #asked(world: World, effect: Entity): ReturnType<EffectKind['prepare']> {
    const { ask, isApproved } = this.#parts
    if (ask === undefined) return this.#never(world, effect)
    const question = this.#questionOf(world, effect)
    const call = ownCall(this.#parts.living, world, effect)
    return async (context) => {
      const isYes = call !== undefined && isApproved(world.name, effect)
      const answer: PersonsAnswer = isYes
        ? { how: 'run' }
        : await context.wait(ask({ ...question, canRun: call !== undefined }, context.signal))
      if (answer.how === 'run' && call !== undefined) return call(context)
      if (answer.how === 'give') return given(answer.text)
      const message = answer.how === 'refuse' && answer.reason !== undefined ? answer.reason : 'It does not run here.'
      return { ok: false, failure: { kind: 'tool-denied', message } }
    }
  }

  #never(world: World, effect: Entity): undefined {
    const { kind } = world.read(effect, Effect)
    const agent = world.get(effect, OwnedBy)?.agent
    const name = world.get(effect, ToolCall)?.name
    const what = name === undefined ? `the ${kind} call` : `the call of '${name}'`
    const whose = agent === undefined ? '' : ` of agent ${agent}`
    this.#parts.missed(`At tick ${world.tick} of ${world.name}, ${what}${whose} is one that the run never made.`)
  }

  #questionOf(world: World, effect: Entity): Omit<CopyQuestion, 'id' | 'canRun'> {
    const call = world.get(effect, ToolCall)
    const agent = world.get(effect, OwnedBy)?.agent
    return {
      world: world.name,
      effect,
      ...(agent !== undefined && { agent }),
      tool: call?.name ?? world.read(effect, Effect).kind,
      arguments: call?.arguments ?? {},
    }
  }
}

/** What the program itself would do; `undefined`: it cannot. */
function ownCall(living: Host | undefined, world: World, effect: Entity): ReturnType<EffectKind['prepare']> {
  const { kind } = world.read(effect, Effect)
  const name = world.get(effect, ToolCall)?.name
  if (living === undefined || (name !== undefined && living.tool(name) === undefined)) return undefined
  return living.kind(kind).prepare(world, effect)
}

function given(text: string): OutcomeData {
  const value: Json = { content: [{ type: 'text', text }] }
  return { ok: true, value }
}

async function callNobody(): Promise<never> {
  throw new Error('A copy calls no model and no tool by itself.')
}
