import { Conversation, fail, type ScriptedReply } from 'entia'
import { type Driven } from '../turns/driving.ts'
import { type Behaviour, call, delegate, notesIn, stepwise, taskOf, team, type Team, type TeamOptions } from './team.ts'

/** How things stood when the lead's model was asked. */
export interface Step {
  readonly atMs: number
  /** Of the lead's sessions, by sequence. */
  readonly statuses: readonly string[]
}

/** A team whose workers sleep and whose lead is watched. */
export interface SleepyTeam extends Team {
  /** The lead's steps so far. */
  readonly steps: readonly Step[]
  /** Texts of the `system` messages that the lead has got. */
  readonly notes: () => string[]
  /** The id of the lead's session of that sequence number. */
  readonly id: (sequence: number) => string
}

/** A worker whose task says how many milliseconds it takes and, behind that, the error it fails with: `100`, `100 boom`. */
export const sleeper: Behaviour = async (request, { sleep }) => {
  const [, durationMs, message] = /^(\d+) ?(.*)$/s.exec(taskOf(request)) ?? []
  await sleep(Number(durationMs))
  return message === '' ? `Slept ${durationMs}` : fail('refused', { message })
}

/** A lead that answers with these, one after the other, and workers that sleep. */
export function sleepyTeam(
  replies: readonly (ScriptedReply | Behaviour)[],
  options: Omit<TeamOptions, 'lead'> = {},
): SleepyTeam {
  const steps: Step[] = []
  const script = stepwise(...replies)
  const made = team({
    worker: sleeper,
    ...options,
    lead: (request, context) => {
      steps.push({ atMs: made.world.nowMs, statuses: made.sessions().map(({ status }) => status) })
      return script(request, context)
    },
  })
  return {
    ...made,
    steps,
    notes: () => notesIn(made.world.read(made.lead, Conversation)),
    id: (sequence) => made.sessions()[sequence - 1]?.sessionId ?? `there is no session ${sequence}`,
  }
}

/** A call that gives a task to a worker in the background. */
export function launch(id: string, task: string, timeout?: number) {
  return delegate(id, { background: true, prompt: task, ...(timeout !== undefined && { timeout }) })
}

/** A call that waits for sessions. */
export function wait(input: Parameters<typeof call>[2] = {}, id = 'wait') {
  return call(id, 'subagent_wait', input)
}

/** Resolves as soon as this is so, which is looked at whenever something is told. */
export function once({ runner }: Driven, isSo: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (isSo()) resolve()
    }
    runner.on('*', look)
    look()
  })
}

/** What an agent is told of a session that has succeeded without a summary. */
export function succeeded(sessionId: string): string {
  return `- ${sessionId} succeeded. Call subagent_result(session_id="${sessionId}") for the full result.`
}

/** What an agent is told of a session that has failed. */
export function failed(sessionId: string, error: string): string {
  return `- ${sessionId} failed: ${error}. Call subagent_result(session_id="${sessionId}") for details.`
}

/** The message that tells an agent of these. */
export function updates(...lines: readonly string[]): string {
  return ['Background subagent updates:', ...lines].join('\n')
}
