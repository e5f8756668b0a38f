import { type Message, scripted, textOf, Usage, user, VirtualClock } from 'entia'
import { delegatingWorld } from './delegating-world.ts'
import type { Row } from './row.ts'

/** What waits, on a clock that jumps: agents for their sessions, and sessions for a slot. */
export async function measure(): Promise<Row[]> {
  return [...(await sleep()), await line()]
}

/** An agent that waits for a session which works an hour longer. */
async function sleep(): Promise<Row[]> {
  const minuteMs = 60_000
  /** Answers of the session's model, five minutes apart; from the second to the last one it is an hour. */
  const steps = 14
  const seen: { readonly atMs: number; readonly ticks: number; readonly tokens: number }[] = []
  const look = (): void => {
    const { tick } = made.runner.world
    const { input = 0, output = 0 } = made.runner.world.read(made.lead, Usage)
    seen.push({ atMs: clock.now(), ticks: tick, tokens: input + output })
  }
  const launch = { category: 'keeper', prompt: 'Keep.', background: true }
  const leads = (step: number) => {
    if (step === 0) return { toolCalls: [{ name: 'subagent', arguments: launch }] }
    return step === 1 ? { toolCalls: [{ name: 'subagent_wait' }] } : 'Done.'
  }
  const keeps = (step: number) => {
    if (step > 0) look()
    return step < steps - 1
      ? { toolCalls: [{ name: 'look_up', arguments: { page: step, reason: 'Why not?' } }] }
      : 'Kept.'
  }
  const model = scripted(
    ({ messages }) => {
      const step = messages.filter(({ role }) => role === 'assistant').length
      return textOf(messages.at(0)) === 'Lead.' ? leads(step) : keeps(step)
    },
    { latencyMs: 5 * minuteMs, usage: { input: 1_000, output: 100 } },
  )
  const messages: Message[] = [user('Lead.')]
  const clock = new VirtualClock()
  const made = await delegatingWorld({ model, messages, clock })
  await made.runner.idle()
  await made.runner.stop()
  const [first, last] = [seen[0], seen.at(-1)]
  if (first === undefined || last === undefined) throw new Error('The session has not worked.')
  const against = `${(last.atMs - first.atMs) / minuteMs} minutes, ${seen.length} answers of the session's model`
  return [
    {
      name: 'ticks of an agent that waits an hour for a session',
      value: last.ticks - first.ticks,
      unit: '',
      limit: 0,
      against,
    },
    {
      name: 'tokens that it spends meanwhile',
      value: last.tokens - first.tokens,
      unit: '',
      limit: 0,
      against: `before: ${first.tokens}`,
    },
  ]
}

/** Many sessions that wait for few slots, and do not end in the order in which they began. */
async function line(): Promise<Row> {
  const sessions = 1_000
  const model = scripted(() => 'Done.', { latencyMs: [1_000, 60_000] })
  const { runner, wave } = await delegatingWorld({ model, clock: new VirtualClock() })
  const launched: string[] = []
  const started: string[] = []
  const ended: string[] = []
  runner.on('session-queued', ({ sessionId }) => launched.push(sessionId))
  runner.on('delegation-started', ({ sessionId }) => started.push(sessionId))
  runner.on('session-ended', ({ sessionId }) => ended.push(sessionId))
  await wave(sessions)
  await runner.stop()
  return {
    name: 'sessions admitted out of order, of 1,000 that wait for 5 slots',
    value: outOfPlace(launched, started),
    unit: '',
    limit: 0,
    against: `ended out of order: ${outOfPlace(launched, ended)}`,
  }
}

function outOfPlace(order: readonly string[], came: readonly string[]): number {
  return order.filter((id, place) => came[place] !== id).length
}
