import type { StandardInput } from '../../components/input.ts'
import { takeRefused } from '../subagents/refused-requests.ts'
import type { Entity } from '../world/component.ts'
import { EntiaError } from '../world/entia-error.ts'
import { refuseUnknownOptions, shortly } from '../world/known-options.ts'
import type { World } from '../world/world.ts'

export interface CostCeilingReset {
  /** By how much the ceiling of the agent's life is raised, in US dollars; above 0. @default not at all */
  readonly addSessionUsd?: number | undefined
}

interface Asked {
  readonly agent: Entity
  /** No other request of this world has it. */
  readonly request: string
  readonly options: CostCeilingReset
}

/** Posts a reset of a cost ceiling, and throws if it was refused. */
export async function resetCostCeiling(
  world: World,
  post: (input: StandardInput) => Promise<void>,
  { agent, request, options }: Asked,
): Promise<void> {
  refuseUnknownOptions('resetCostCeiling', options, ['addSessionUsd'])
  const { addSessionUsd } = options
  if (addSessionUsd !== undefined && !(Number.isFinite(addSessionUsd) && addSessionUsd > 0)) {
    throw misuse(`addSessionUsd is a number of US dollars above 0; came ${shortly(addSessionUsd)}.`)
  }
  await post({ kind: 'cost-ceiling-reset', agent, request, ...(addSessionUsd !== undefined && { addSessionUsd }) })
  const refused = takeRefused(world, request)
  if (refused !== undefined) throw new EntiaError(refused.code, refused.reason, { agent })
}

function misuse(problem: string): EntiaError {
  return new EntiaError('invalid-argument', `resetCostCeiling: ${problem}`)
}
