import type { Entity, ModelContext, ScriptedCall, ScriptedReply, World } from 'entia'
import { Conversation } from 'entia'
import { answerIn, type Behaviour, call, delegate, taskOf, type Team } from './team.ts'

/** Answers after so many milliseconds. */
export function after(durationMs: number, reply: ScriptedReply): Behaviour {
  return async (_, { sleep }) => {
    await sleep(durationMs)
    return reply
  }
}

/** Takes so many milliseconds for each of these tasks, and says `Done: <task>`; a task that is not named takes none. */
export function taking(durationsMs: Readonly<Record<string, number>>): Behaviour {
  return (request, context) => {
    const task = taskOf(request)
    return after(durationsMs[task] ?? 0, `Done: ${task}`)(request, context)
  }
}

/** Does as the behaviour for its task; tasks that are not named end at once. */
export function byTask(behaviours: Readonly<Record<string, Behaviour>>): Behaviour {
  return (request, context) => {
    const task = taskOf(request)
    return (behaviours[task] ?? (() => `Done: ${task}`))(request, context)
  }
}

/** Takes far longer than the ten minutes that a model call has; the clock goes on meanwhile. */
export async function hang(_: unknown, { sleep }: Pick<ModelContext, 'sleep'>): Promise<ScriptedReply> {
  await sleep(1e12)
  return 'Far too late.'
}

/** A call that gives a task to `researcher`, or whomever the rest names, in the background. */
export function inBackground(
  id: string,
  prompt: string,
  more: Readonly<Record<string, string | number>> = {},
): ScriptedCall {
  return delegate(id, { prompt, background: true, ...more })
}

/** Asks how sessions stand, each under an id that begins with `prefix`: `<prefix>1` for the first session. */
export function statusOf(prefix: string, ...sequences: readonly number[]): ScriptedReply {
  return {
    toolCalls: sequences.map((sequence) =>
      call(`${prefix}${sequence}`, 'subagent_status', { session_id: `${sequence}` }),
    ),
  }
}

/** The JSON that a tool call of an agent was answered with. */
export function answered({ world, lead }: Pick<Team, 'world' | 'lead'>, callId: string): Record<string, unknown> {
  return answerOf(world, lead, callId)
}

export function answerOf(world: World, agent: Entity, callId: string): Record<string, unknown> {
  return answerIn(world.read(agent, Conversation), callId)
}
