import { repeatedToolCall } from '../../../src/rules/context/call-run.ts'
import type { ObservedCall, WatchdogAlert, WatchdogSignal } from '../../../src/rules/context/watchdog-signal.ts'
import { thrownMessage } from '../../../src/rules/text/thrown-message.ts'
import { canonicalOrNone } from '../../../src/world/canonical.ts'
import type { Json } from '../../../src/world/json.ts'

/** What signals make of one call. */
export interface Seen {
  readonly states: Readonly<Record<string, Json>>
  readonly alerts: readonly { readonly signal: string; readonly alert: WatchdogAlert }[]
  /** Signals that threw, or gave what is no answer: their state is as it was. */
  readonly problems: readonly string[]
}

/** Shows a call to all signals. One that fails is named, and disturbs no other. */
export function seenBy(
  signals: readonly WatchdogSignal[],
  before: Readonly<Record<string, Json>>,
  call: ObservedCall,
): Seen {
  const states: Record<string, Json> = {}
  const alerts: { signal: string; alert: WatchdogAlert }[] = []
  const problems: string[] = []
  for (const signal of signals) {
    const { name } = signal
    const key = keyOf(name)
    const last = before[key] ?? signal.initial
    const answer = answerOf(() => signal.observe(last, call))
    states[key] = 'problem' in answer ? last : answer.state
    if ('problem' in answer) problems.push(`The watchdog signal '${name}' is passed over: ${answer.problem}`)
    else if (answer.alert !== undefined) alerts.push({ signal: name, alert: answer.alert })
  }
  return { states, alerts, problems }
}

/** What takes the place of the built-in signal keeps a state of its own: the built-in one's has another shape. */
function keyOf(name: string): string {
  return name === repeatedToolCall ? `${name} (replaced)` : name
}

type Answer = ReturnType<WatchdogSignal['observe']>

/** Signals are programs' own, and often plain JavaScript: what they give is looked at. */
function answerOf(observe: () => Answer): Answer | { readonly problem: string } {
  let answer: Answer
  try {
    answer = observe()
  } catch (error) {
    return { problem: thrownMessage(error) }
  }
  const state = typeof answer === 'object' && answer !== null ? canonicalOrNone(answer.state) : undefined
  if (state === undefined) return { problem: 'it has to give { state, alert? }, and the state is JSON.' }
  const { alert } = answer
  if (alert === undefined) return { state }
  const isAlert = typeof alert.message === 'string' && ['warning', 'critical'].includes(alert.severity)
  return isAlert ? { state, alert } : { problem: 'an alert is { severity: warning | critical, message }.' }
}
