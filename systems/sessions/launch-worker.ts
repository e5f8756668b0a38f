import { ToolRegistry } from '../../components/agent/tool-registry.ts'
import { freeFormConfig } from '../../src/rules/delegation/plan-child.ts'
import type { GrantLimits } from '../../src/protocol/delegation.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import type { Refusal } from './delegation.ts'
import { launchSession, type LaunchRequest } from './launch-session.ts'

/** A background session with tools of the launcher's choosing. */
export interface WorkerRequest extends Pick<
  LaunchRequest,
  'callId' | 'correlationId' | 'isDated' | 'notify' | 'timeoutMs'
> {
  readonly task: string
  /** Names of the agent's tools; it gets no others, now or later. */
  readonly tools: readonly string[]
  /** `provider/model`. @default the agent's */
  readonly model?: string | undefined
  /** What it may spend. @default what its launcher has left */
  readonly limits?: GrantLimits | undefined
  /** Who is asked about its calls. @default nobody: they are declined */
  readonly approvals?: 'parent' | undefined
}

const onBlocked =
  '- You have the tools that you were given, and get no others. What would need an approval is denied: report that you are blocked instead of trying again.'
const onDeclined =
  '- You have the tools that you were given, and get no others. If a call is denied, report that you are blocked instead of trying again.'

/** Names of the tools that an agent has to grant. */
export function toolsToGrant(world: World, agent: Entity): readonly string[] {
  return (world.get(agent, ToolRegistry)?.tools ?? []).map(({ name }) => name)
}

/** Launches a worker as queued, or returns why not. It never forks. The tools must be the agent's. */
export function launchWorker(world: World, agent: Entity, request: WorkerRequest): Entity | Refusal {
  const { approvals, limits, model, task, tools, ...rest } = request
  const worker = freeFormConfig('worker', {})
  return launchSession(world, agent, {
    ...rest,
    ...(approvals === undefined && { approvals: 'denied' as const }),
    config: {
      ...worker,
      ...(limits !== undefined && { limits }),
      ...(model !== undefined && { model }),
      systemPrompt: `${worker.systemPrompt}\n${approvals === undefined ? onBlocked : onDeclined}`,
      inheritancePolicy: { inheritPermissions: true, inheritSystemPrompt: false, inheritTools: [...tools] },
    },
    prompt: task,
    loadSkills: [],
    mode: 'background',
  })
}
