import type { Asked } from './asked.ts'
import type { CallPlace, RecordedCall } from './recorded-call.ts'
import { type RequestDifference, requestDifference } from './request-difference.ts'

/** A call of a replay that its recording has no answer to, and what made it another one than the recorded. */
export interface Missed extends CallPlace, Partial<RequestDifference> {
  /** `model`, `tool`, `approval`, or a kind of one's own. */
  readonly kind: string
  /** `provider/model`, the tool, or the kind. */
  readonly name: string
  /** The tick behind which it began. */
  readonly tick: number
  /** All of it in words. */
  readonly message: string
}

/**
 * @param nearest the recorded call that it is compared with
 * @param hint what else may be the cause
 */
export function missed(
  asked: Asked,
  place: CallPlace,
  tick: number,
  nearest: RecordedCall | undefined,
  hint: string | undefined,
): Missed {
  const { kind, name } = asked
  const isSame = nearest?.asked.fingerprint === asked.fingerprint
  const difference = nearest === undefined || isSame ? undefined : requestDifference(nearest.asked, asked)
  const whose = place.agent === undefined ? `World ${place.label}` : `Agent ${place.agent} of ${place.label}`
  const what = kind === 'model' ? `the request to ${name}` : `the ${kind === name ? 'call' : kind} '${name}'`
  const said = `${whose}, step ${place.step}: ${what} is not in the recording. ${why(nearest, place, difference)}`
  const message = hint === undefined ? said : `${said} ${hint}`
  return { ...place, kind, name, tick, ...difference, message }
}

function why(nearest: RecordedCall | undefined, place: CallPlace, difference: RequestDifference | undefined): string {
  if (nearest === undefined) return 'Nothing of the kind was recorded.'
  const { label, agent, step } = nearest
  const isThere = label === place.label && agent === place.agent && step === place.step
  const other = agent === undefined ? label : `agent ${agent} of ${label}`
  const compared = isThere ? '' : ` (compared with step ${step} of ${other}, which is the most like it)`
  if (difference === undefined) {
    return nearest.outcome === 'cut-off'
      ? `The recording ends while it is under way${compared}.`
      : `It was recorded, but not so often${compared}.`
  }
  const { component, where, recorded, came } = difference
  return `What differs first is ${component}, in ${where}: recorded ${quoted(recorded)}, got ${quoted(came)}${compared}.`
}

function quoted(text: string | undefined): string {
  return text === undefined ? 'nothing' : JSON.stringify(text)
}
