import {
  Busy,
  Conversation,
  Edited,
  Effect,
  LastTurn,
  ModelCall,
  Outcome,
  OwnedBy,
  Pending,
  RenderedPrompt,
  Running,
  SubagentRegistry,
  ToolCall,
  Turn,
  Unread,
  Usage,
} from '../../components/index.ts'
import type { ToolMessage } from '../../src/protocol/message.ts'
import { Due } from '../../components/effects/effect.ts'
import type { Component, Entity } from '../../src/world/component.ts'
import type { Input } from '../../src/world/input.ts'
import type { Json } from '../../src/base/json.ts'
import type { System, World } from '../../src/world/world.ts'
import { resultOf } from '../../src/rules/projection/call-result.ts'
import { answerCall } from '../../systems/agent/tool-results.ts'
import {
  cancellation,
  reasoning,
  reply,
  restart,
  retry,
  settlement,
  standardSystems,
  toolResults,
} from '../../systems/index.ts'
import { settled } from '../../systems/kit.ts'

/** The standard systems, one of them broken. */
function replaced(name: string, run: (world: World) => void): System[] {
  return standardSystems().map((system) => (system.name === name ? { name, priority: system.priority, run } : system))
}

function besides(priority: number, run: (world: World) => void): System[] {
  return [...standardSystems(), { name: 'broken', priority, run }]
}

function inputs(world: World, kind: string): readonly Input[] {
  return world.inputs.filter((input) => input.kind === kind)
}

/** Takes back what this tick has told so far of one kind. */
function untell(world: World, type: string): void {
  const events = world.core.underway?.events ?? []
  events.splice(0, events.length, ...events.filter((event) => event.type !== type))
}

/** Writes where nobody looks: neither the journal nor an undo hears of it. */
function writeUnseen(world: World, entity: Entity, token: Component, value: Json): void {
  const { state } = world.core
  const column = state.column(token)
  const row = state.row(entity)
  column.put(row, value, column.get(row) === undefined)
}

/** An agent's conversation, and calls that have an outcome. */
function answer(world: World, put: (agent: Entity, call: Entity) => void): void {
  const calls = settled(world, ToolCall).filter((call) => world.has(call, Effect))
  for (const call of calls) {
    const { agent } = world.read(call, OwnedBy)
    put(agent, call)
    const isOpen = world.referrers(OwnedBy, agent).some((owned) => world.has(owned, ToolCall))
    if (!isOpen) world.remove(agent, Busy)
  }
}

/** An outcome that comes for an effect that is settled counts as well. */
export const takesEveryOutcome = (): System[] =>
  replaced('settlement', (world) => {
    settlement.run(world)
    untell(world, 'input-dropped')
  })

/** What a call has come to, and has to wait for another call's result, is written over meanwhile. */
export const writesOverOutcomes = (): System[] =>
  besides(-101, (world) => {
    const failure = { kind: 'internal', message: 'Lost.' } as const
    for (const call of settled(world, ToolCall)) world.set(call, Outcome, { ok: false, failure })
  })

/** A model that has not much to say is asked once more, as if it had never been asked. */
export const forgetsReplies = (): System[] =>
  replaced('reply', (world) => {
    for (const call of settled(world, ModelCall)) {
      const { agent } = world.read(call, OwnedBy)
      if ((world.get(agent, Usage)?.calls ?? 0) !== 1) continue
      world.despawn(call)
      world.remove(agent, Busy)
      world.add(agent, Unread)
      world.patch(agent, Usage, { calls: 2 })
    }
    reply.run(world)
  })

export const answersTwice = (): System[] =>
  replaced('tool-results', (world) => {
    const agents = settled(world, ToolCall).map((call) => world.read(call, OwnedBy).agent)
    toolResults.run(world)
    for (const agent of new Set(agents)) {
      const last = world.read(agent, Conversation).at(-1)
      if (last?.role === 'tool') world.append(agent, Conversation, last)
    }
  })

export const dropsResults = (): System[] =>
  replaced('tool-results', (world) => answer(world, (_, call) => world.despawn(call)))

/** A turn that is cancelled leaves its calls as they are. */
export const leavesCallsOpen = (): System[] =>
  replaced('cancellation', (world) => {
    for (const input of inputs(world, 'cancel')) {
      const agent = input['agent'] as Entity
      const turn = world.get(agent, Turn)
      if (turn === undefined) continue
      for (const owned of world.referrers(OwnedBy, agent)) world.despawn(owned)
      for (const token of [Busy, Unread, Turn]) world.remove(agent, token)
      const { steps, toolCalls, startedAtMs } = turn
      world.add(agent, LastTurn({ stop: 'cancelled', steps, toolCalls, startedAtMs, endedAtMs: world.nowMs }))
      world.emit({ type: 'turn-ended', agent, stop: 'cancelled' })
    }
    if (inputs(world, 'cancel').length === 0) cancellation.run(world)
  })

/** Results enter a conversation as they come. */
export const answersAsTheyCome = (): System[] =>
  replaced('tool-results', (world) => {
    answer(world, (agent, call) => answerCall(world, agent, call, resultOf(world, call, world.read(call, Outcome))))
  })

/** Results go to the end of a conversation, whatever was said meanwhile. */
export const answersAtTheEnd = (): System[] =>
  replaced('tool-results', (world) => {
    for (const call of settled(world, ToolCall)) {
      const { agent } = world.read(call, OwnedBy)
      const messages = world.read(agent, Conversation)
      if (messages.at(-1)?.role !== 'user') continue
      const isNext = world.referrers(OwnedBy, agent).find((owned) => world.has(owned, ToolCall)) === call
      if (!isNext) continue
      const { callId, name } = world.read(call, ToolCall)
      const result: ToolMessage = { role: 'tool', callId, name, content: [{ type: 'text', text: 'Here.' }] }
      world.append(agent, Conversation, result)
      world.despawn(call)
      if (!world.referrers(OwnedBy, agent).some((owned) => world.has(owned, ToolCall))) world.remove(agent, Busy)
    }
    toolResults.run(world)
  })

/** A model is asked as soon as somebody speaks, whatever its agent waits for. */
export const asksTooEarly = (): System[] =>
  besides(-1, (world) => {
    for (const { agent } of inputs(world, 'message') as readonly (Input & { agent: Entity })[])
      world.remove(agent, Busy)
  })

/** What was begun once is begun again. */
export const runsOnceAgain = (): System[] =>
  replaced('restart', (world) => {
    for (const effect of inputs(world, 'started').length === 0 ? [] : world.query(Running)) {
      if (world.read(effect, Effect).restart !== 'once') continue
      world.remove(effect, Running)
      world.add(effect, Pending)
    }
    restart.run(world)
  })

/** Calls that run again are at their first try. */
export const forgetsReruns = (): System[] =>
  replaced('restart', (world) => {
    restart.run(world)
    for (const effect of world.query(ToolCall, Pending)) {
      if (world.read(effect, Effect).attempt > 1) world.patch(effect, Effect, { attempt: 1 })
    }
  })

/** A next try begins, and the journal does not know of it. */
export const triesUnseen = (): System[] =>
  replaced('retry', (world) => {
    for (const input of inputs(world, 'due')) {
      const effect = input['effect'] as Entity
      if (!world.has(effect, Due)) continue
      world.remove(effect, Due)
      writeUnseen(world, effect, Pending, true)
    }
    retry.run(world)
  })

/** Makes every try under the number of the first. */
export const countsNoTry = (): System[] =>
  replaced('retry', (world) => {
    retry.run(world)
    for (const effect of world.query(Due)) world.patch(effect, Effect, { attempt: 1 })
  })

/** Knows no input by its id after a restart. */
export const forgetsInputs = (): System[] => replaced('receipts', () => undefined)

/** Makes an early message shorter, and takes the note of that away. */
export const rewritesSilently = (): System[] =>
  besides(-1, (world) => {
    for (const agent of world.query(Conversation, Unread)) {
      const before = world.read(agent, Conversation)
      if (before.length < 4 || before[0]?.role !== 'user') continue
      world.splice(agent, Conversation, 0, 1, [
        { role: 'user', content: [{ type: 'text', text: `Go on. ${world.tick}` }] },
      ])
      world.remove(agent, Edited)
    }
  })

/** A system prompt that says what time it is, and nobody is told that it changes. */
export const changesPromptSilently = (): System[] => [
  ...replaced('reasoning', (world) => {
    for (const agent of world.query(RenderedPrompt)) {
      world.set(agent, RenderedPrompt, { text: `It is ${world.nowMs}.` })
    }
    reasoning(256).run(world)
    untell(world, 'prefix-broken')
  }),
]

/** A log's own array is written to, past the world. */
export const growsLogsUnseen = (): System[] =>
  besides(20, (world) => {
    for (const agent of world.query(Conversation)) {
      const messages = world.core.state.get(agent, Conversation) as unknown[]
      if (world.tick === 5) messages.push(messages[0])
    }
  })

/** A value is written past the world. */
export const writesValuesUnseen = (): System[] =>
  besides(20, (world) => {
    for (const agent of world.query(SubagentRegistry)) {
      const registry = { ...world.read(agent, SubagentRegistry), wakeIdle: true }
      if (world.tick === 3) writeUnseen(world, agent, SubagentRegistry, registry)
    }
  })
