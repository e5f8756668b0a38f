import { Approval, ToolCall } from '../../../components/agent/tool-call.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { Effect, OwnedBy, Pending, Running } from '../../../components/effects/effect.ts'
import { isChildEffect } from '../../engine/children/kinds.ts'
import { recordedWorlds } from '../../engine/recording/recorded-worlds.ts'
import { recordingWith, type SavedWorld } from '../../engine/recording/recording.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { callToModel } from '../../rules/projection/project.ts'
import type { Component, Entity } from '../../world/component.ts'
import { redo, valueOf } from '../../world/inspection.ts'
import type { Input } from '../../world/input.ts'
import type { Json } from '../../base/json.ts'
import { sha256 } from '../../base/sha256.ts'
import type { World } from '../../world/world.ts'

/** What was answered to a request. `never`: something else ended it, such as a deadline. */
export interface KnownAnswer {
  readonly outcome: OutcomeData | 'never'
  readonly latencyMs: number
}

interface Asked {
  readonly text: string
  readonly beganMs: number
}

interface Answered extends KnownAnswer {
  /** Ids in the request, in order: those of the copy stand for them in the answer. */
  readonly ids: readonly string[]
}

/**
 * What a run was answered, by what it asked. Requests are compared with all made ids left out, since a copy makes its own; in an
 * answer the copy's ids stand in their place. Each answer is given once.
 */
export class CopyBook {
  readonly #left = new Map<string, Answered[]>()
  /** What the agents of the run had, by name: a session that is launched again has it as well. */
  readonly tools = new Map<string, ToolDeclaration>()

  /**
   * @param since by world: answers that came up to this tick are not in it, since the copy has them
   * @throws what restoring throws
   */
  constructor(
    worlds: readonly SavedWorld[],
    components: Iterable<Component>,
    since: ReadonlyMap<string, number> = new Map(),
  ) {
    const [root] = worlds
    if (root === undefined) return
    for (const { recorded, world } of recordedWorlds(recordingWith(root.name, worlds), components)) {
      const sinceTick = since.get(world.name) ?? 0
      let tick = 0
      const reader = new Reader(world, (asked, answer) => {
        if (tick <= sinceTick) return
        const { ids, key } = formOf(asked)
        this.#left.set(key, [...(this.#left.get(key) ?? []), { ...answer, ids }])
      })
      for (const { delta, inputs } of recorded.steps()) {
        tick = delta.tick
        reader.take(inputs, delta.nowMs)
        redo(world, delta, delta)
        reader.look()
      }
      for (const agent of world.entitiesWith(ToolRegistry))
        for (const tool of world.read(agent, ToolRegistry).tools) this.tools.set(tool.name, tool)
    }
  }

  /** The answer to what an effect asks, if the run has asked the same. */
  take(world: World, effect: Entity): KnownAnswer | undefined {
    const { ids, key } = formOf(askedBy(world, effect))
    const found = this.#left.get(key)?.shift()
    if (found === undefined) return undefined
    const { latencyMs, outcome } = found
    if (outcome === 'never') return { latencyMs, outcome }
    let text = JSON.stringify(outcome)
    found.ids.forEach((id, index) => (text = text.replaceAll(id, ids[index] ?? id)))
    return { latencyMs, outcome: JSON.parse(text) as OutcomeData }
  }
}

/** Follows the ticks of one world, and tells of what was asked and answered. */
class Reader {
  readonly #world: World
  readonly #tell: (asked: string, answer: KnownAnswer) => void
  readonly #open = new Map<Entity, Asked>()

  constructor(world: World, tell: (asked: string, answer: KnownAnswer) => void) {
    this.#world = world
    this.#tell = tell
    this.look()
  }

  take(inputs: readonly Input[], nowMs: number): void {
    for (const input of inputs) {
      if (input.kind === 'outcome') this.#close(input['effect'] as Entity, input['outcome'] as OutcomeData, nowMs)
      if (input.kind === 'answer') this.#answer(input, nowMs)
    }
  }

  /** After a tick: what has begun, and what has ended without an answer of its own. */
  look(): void {
    const world = this.#world
    for (const effect of this.#open.keys()) {
      const isOpen = world.exists(effect) && (world.has(effect, Pending) || world.has(effect, Running))
      if (!isOpen) this.#close(effect, 'never', world.nowMs)
    }
    for (const effect of world.entitiesWith(Pending)) {
      if (this.#open.has(effect) || isOwn(world.read(effect, Effect).kind)) continue
      this.#open.set(effect, { text: askedBy(world, effect), beganMs: world.nowMs })
    }
  }

  #answer(input: Input, nowMs: number): void {
    const world = this.#world
    const asked = world.entitiesWith(Approval).find((each) => world.read(each, Approval).id === input['approval'])
    if (asked === undefined) return
    const { approval: _, id: _id, kind: _kind, ...value } = input
    this.#close(asked, { ok: true, value: value as Json }, nowMs)
  }

  #close(effect: Entity, outcome: KnownAnswer['outcome'], nowMs: number): void {
    const asked = this.#open.get(effect)
    if (asked === undefined) return
    this.#open.delete(effect)
    this.#tell(asked.text, { outcome, latencyMs: Math.max(0, nowMs - asked.beganMs) })
  }
}

/** Kinds that a world, or the engine with its worlds, answers itself. */
export function isOwn(kind: string): boolean {
  return kind === 'timer' || kind === 'rates' || isChildEffect(kind)
}

/** What an effect asks, in full. */
function askedBy(world: World, effect: Entity): string {
  const { kind } = world.read(effect, Effect)
  if (kind === 'model') {
    const { model, request } = callToModel(world, effect)
    const { messages, options, outputSchema, system, tail, tools } = request
    return JSON.stringify([kind, model, system, options, outputSchema ?? null, tail, tools, [...messages]])
  }
  if (kind === 'tool') {
    const { arguments: input, name } = world.read(effect, ToolCall)
    return JSON.stringify([kind, name, input])
  }
  if (kind === 'approval') {
    const { arguments: input, tool } = world.read(effect, Approval)
    return JSON.stringify([kind, tool, input])
  }
  const own = world.componentsOf(effect).filter(({ name }) => !common.has(name))
  return JSON.stringify([kind, own.map(({ name }) => [name, valueOf(world, effect, name)])])
}

const common: ReadonlySet<string> = new Set([Effect, OwnedBy, Pending, Running].map(({ name }) => name))
const madeId = /\b[a-z][a-z_]*-[0-9a-f]{16}\b/g

function formOf(text: string): { readonly key: string; readonly ids: readonly string[] } {
  const ids = [...new Set(text.match(madeId) ?? [])]
  const places = new Map(ids.map((id, index) => [id, `#${index}`]))
  return { ids, key: sha256(text.replaceAll(madeId, (id) => places.get(id) ?? id)) }
}
