import type { Remembered } from '../../../components/agent/policy.ts'
import type { AllowedCalls, Judged, PolicyConfig, Reach } from '../../protocol/policy.ts'
import type { DeepReadonly } from '../../world/component.ts'
import type { Json } from '../../base/json.ts'
import { bodyOf } from './call.ts'
import { absolute, type Base, segmentsOf } from './paths.ts'
import { isContinued } from './simple-command.ts'

/** A call, as far as answers to earlier ones may cover it. */
interface CoveredCall extends Pick<Judged, 'commandReach' | 'commandStart' | 'reach'> {
  readonly tool: string
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

/** What to remember of a yes to a call, for the chat session or for its command; `undefined`: it has none that could be continued. */
export function rememberedOf(call: CoveredCall, remember: 'session' | 'command'): Remembered | undefined {
  const { commandReach = [], commandStart, reach = [], tool } = call
  if (remember === 'session') return { tool, reach }
  if (commandStart === undefined) return undefined
  return { tool, command: commandStart, reach: [...new Set([...reach, ...commandReach])] }
}

/**
 * What a configuration may say so that a call need not be asked about again: of a shell, its command; of another tool, calls in such
 * places. `undefined` for programs that are no one command: a yes to one says nothing of the next.
 */
export function ruleFor(call: CoveredCall & { readonly arguments: Json; readonly mayRemember?: boolean | undefined }) {
  const isProgram = bodyOf(call) !== undefined
  const noted = call.mayRemember === true ? rememberedOf(call, isProgram ? 'command' : 'session') : undefined
  return noted && allowedBy(noted)
}

function allowedBy({ command, reach }: Remembered): AllowedCalls {
  return { ...(command !== undefined && { command }), ...(reach !== undefined && { places: reach }) }
}

/** What a configuration lets run of a tool in a working folder, as answers that are remembered. */
export function rulesOf(tool: string, { permissions = {} }: PolicyConfig, base: Base): readonly Remembered[] {
  const entry = Object.hasOwn(permissions, tool) ? permissions[tool] : undefined
  if (typeof entry !== 'object') return []
  const { allow } = entry
  const rules = allow.filter(({ folder }) => folder === undefined || isSameFolder(folder, base))
  return rules.map(({ command, places }) => ({ tool, command, reach: places }))
}

function isSameFolder(folder: string, base: Base): boolean {
  const [one, other] = [folder, base.cwd].map((path) => segmentsOf(absolute(path, base), base.pathStyle))
  return one?.join('/') === other?.join('/')
}

function isWithin(reach: readonly Reach[], allowed: readonly Reach[]): boolean {
  return reach.every((one) => allowed.includes(one))
}

function reachOf({ reach = ['project'] }: DeepReadonly<Remembered>): readonly Reach[] {
  return reach
}
