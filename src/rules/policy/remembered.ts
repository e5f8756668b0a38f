import type { Remembered } from '../../../components/agent/policy.ts'
import type { Reach } from '../../protocol/policy.ts'
import type { DeepReadonly } from '../../world/component.ts'
import { isContinued } from './simple-command.ts'

/** A call, as far as answers to earlier ones may cover it. */
interface CoveredCall {
  readonly tool: string
  readonly reach?: readonly Reach[] | undefined
  readonly commandStart?: string | undefined
  readonly commandReach?: readonly Reach[] | undefined
}

/** Does an answer that is remembered cover a call? It reaches no further than the calls that the answers were given for. */
export function covers(remembered: readonly DeepReadonly<Remembered>[], call: CoveredCall): boolean {
  const { commandReach, commandStart, reach, tool } = call
  const ofTool = remembered.filter((one) => one.tool === tool)
  const whole = ofTool.filter(({ command }) => command === undefined)
  if (whole.length > 0 && reach !== undefined && isWithin(reach, whole.flatMap(reachOf))) return true
  if (commandStart === undefined || reach === undefined || commandReach === undefined) return false
  return ofTool.some((one) => {
    if (one.command === undefined || !isContinued(one.command, commandStart)) return false
    return isWithin([...reach, ...commandReach], reachOf(one))
  })
}

function isWithin(reach: readonly Reach[], allowed: readonly Reach[]): boolean {
  return reach.every((one) => allowed.includes(one))
}

function reachOf({ reach = ['project'] }: DeepReadonly<Remembered>): readonly Reach[] {
  return reach
}
