import {
  type AssistantMessage,
  Conversation,
  defineTool,
  type Entity,
  type Initial,
  type Input,
  Llm,
  type Message,
  type System,
  type TagComponent,
  type ToolDeclaration,
  user,
  World,
} from 'entia'
import { tick, type TickResult } from 'entia/systems'
import {
  Busy,
  Effect,
  ModelCall,
  Outcome,
  OwnedBy,
  Pending,
  Requested,
  Running,
  ToolCall,
  Turn,
  Unread,
} from 'entia/components'
import { z } from 'zod'

/** A component to spawn with. */
export type Part = Initial | TagComponent

/** A world that does nothing but these systems. */
export function worldOf(...systems: System[]): World {
  return new World({ systems })
}

/** One tick with these inputs; time passes up to then. */
export function tickAt(world: World, nowMs: number, ...inputs: readonly Input[]): TickResult {
  return tick(world, inputs, { nowMs })
}

/** The types of the events of a tick. */
export function told({ events }: TickResult): string[] {
  return events.map((event) => event.type)
}

export const model = 'scripted/x'

/** An agent that was just spoken to. */
export function listener(world: World, ...parts: readonly Part[]): Entity {
  return world.spawn(Llm({ model }), Conversation([user('Hello')]), ...parts)
}

/** An agent whose turn is open and whose last message is its model's: nothing is under way. */
function working(world: World, messages: readonly Message[], parts: readonly Part[]): Entity {
  const turn = Turn({ steps: 1, toolCalls: 0, startedAtMs: 0 })
  const agent = world.spawn(Llm({ model }), Conversation(messages), turn, Busy, ...parts)
  world.remove(agent, Unread)
  return agent
}

/** An agent whose model is being asked. */
export function thinker(world: World, ...parts: readonly Part[]): { agent: Entity; call: Entity } {
  const agent = working(world, [user('Hello')], parts)
  const effect = Effect({ kind: 'model', restart: 'pure', attempt: 1, timeoutMs: 1_000 })
  return { agent, call: world.spawn(ModelCall({ messages: 1 }), effect, OwnedBy({ agent }), Pending) }
}

/** What a model asks for. */
export interface Wish {
  readonly name: string
  readonly arguments?: ToolCallArguments
  readonly malformed?: string
}
type ToolCallArguments = Extract<AssistantMessage['content'][number], { type: 'tool-call' }>['arguments']

/** An answer that asks for tools: `call-0`, `call-1` … */
export function asking(...wishes: readonly Wish[]): AssistantMessage {
  const content = wishes.map(({ name, arguments: input = {}, malformed }, index) => {
    const block = { type: 'tool-call' as const, id: `call-${index}`, name, arguments: input }
    return malformed === undefined ? block : { ...block, malformed }
  })
  return { role: 'assistant', content }
}

/** An agent whose model has asked for tools, which nobody has decided about yet. */
export function caller(world: World, wishes: readonly Wish[], ...parts: readonly Part[]) {
  const agent = working(world, [user('Hello'), asking(...wishes)], parts)
  const calls = wishes.map(({ name, arguments: input = {}, malformed }, index) => {
    const call = ToolCall({ arguments: input, callId: `call-${index}`, name, malformed })
    return world.spawn(call, OwnedBy({ agent }), Requested)
  })
  return { agent, calls: calls as [Entity, ...Entity[]] }
}

/** The call begins: it waits for a slot, or runs if it is `once` and was admitted. */
export function begin(
  world: World,
  call: Entity,
  restart: 'pure' | 'keyed' | 'once' = 'pure',
  mark: 'pending' | 'running' = 'pending',
) {
  world.remove(call, Requested)
  world.add(call, Effect({ kind: 'tool', restart, attempt: 1, timeoutMs: 1_000 }))
  if (mark === 'pending') world.add(call, Pending)
  else world.add(call, Running({ sinceMs: 0 }))
}

/** The effect has ended. */
export function settleWith(world: World, effect: Entity, outcome: Parameters<typeof Outcome>[0]): void {
  for (const mark of [Requested, Pending, Running]) world.remove(effect, mark)
  world.add(effect, Outcome(outcome))
}

/** The outcome of a tool that has said this. */
export function said(text: string, isError?: boolean) {
  const content = [{ type: 'text' as const, text }]
  return { ok: true as const, value: isError === undefined ? { content } : { content, isError } }
}

/** The outcome of a model that has answered this. */
export function answered(message: AssistantMessage, usage: Readonly<Record<string, number>> = {}) {
  return { ok: true as const, value: { message, stop: 'end', usage } }
}

export function saying(text: string): AssistantMessage {
  return { role: 'assistant', content: [{ type: 'text', text }] }
}

/** The declaration of a tool that takes `{ n: number }`. */
export function declaration(name: string, changes: Partial<ToolDeclaration> = {}): ToolDeclaration {
  const input = z.object({ n: z.number() })
  return {
    ...defineTool({ name, description: 'Tests.', input, restart: 'pure', run: () => '' }).declaration,
    ...changes,
  }
}
