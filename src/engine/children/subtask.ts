import { ToolCeiling } from '../../../components/sessions/ancestry.ts'
import type { BlueprintData } from '../../../components/sessions/blueprint.ts'
import { CostCeiling } from '../../../components/money/ceilings.ts'
import { ApprovalsDenied } from '../../../components/context/holder.ts'
import type { Failure } from '../../protocol/failure.ts'
import { Llm, type LlmData } from '../../../components/agent/llm.ts'
import { Permissions, ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { Running } from '../../../components/effects/effect.ts'
import { Subtask, SubtaskAccount, type SubtaskData } from '../../../components/sessions/subtask.ts'
import type { SubtaskSpending } from '../../protocol/usage.ts'
import { ceilingMessage } from '../../rules/money/ceiling-decision.ts'
import {
  endedSubtask,
  failedSubtask,
  hasEnded,
  nothingSpent,
  subtaskSpending,
} from '../../rules/delegation/subtask-result.ts'
import { type BudgetOwner, budgetOwnerOf } from './child-world.ts'
import type { Json } from '../../base/json.ts'
import type { World } from '../../world/world.ts'
import type { EffectContext, EffectKind } from '../effects/effect-kind.ts'
import { agentOf, type MakeChildRunner } from './child-run.ts'
import type { Children } from './children.ts'
import { type ChildPolicy, leftBehind, supervise } from './supervisor.ts'

interface Order {
  readonly asked: SubtaskData
  readonly blueprint: ReturnType<typeof subtaskBlueprint>
  readonly budgetOwner: BudgetOwner | undefined
  /** It was running when the last process ended. */
  readonly wasRunning: boolean
  /** Running it twice does no harm. */
  readonly isRepeatable: boolean
}

/** A subtask is a World of its own, driven until its end or deadline, without a slot. It continues after a restart. */
export function subtaskEffect(children: Children): EffectKind {
  return {
    isWaiting: true,
    prepare(world, effect) {
      const asked = world.read(effect, Subtask)
      const { agent, subtaskId } = asked
      const wasRunning = world.has(effect, Running)
      const own = world.get(agent, ToolRegistry)?.tools ?? []
      const isRepeatable = !own.some(({ name, restart }) => restart === 'once' && asked.tools.includes(name))
      const budgetOwner = budgetOwnerOf(world, agent)
      const order = { asked, blueprint: subtaskBlueprint(world, asked), budgetOwner, isRepeatable, wasRunning }
      if (wasRunning) children.expect(subtaskId)
      return async (context) => {
        let isOver = false
        // Once its result is in its caller's world, its own World is not needed.
        context.whenGone(() => {
          if (isOver && !context.isStopping) discard(children, subtaskId)
        })
        try {
          return await supervise(children, subtaskPolicy(children, order), context)
        } finally {
          isOver = true
        }
      }
    },
  }
}

function subtaskPolicy(children: Children, order: Order): ChildPolicy {
  const { asked, wasRunning } = order
  const { subtaskId, timeoutMs } = asked
  return {
    worldId: subtaskId,
    isNew: !wasRunning,
    mayCall: ({ world }) => mayCall(children, asked, spentIn(world)),
    async open(context) {
      const made = await opened(children, order, context)
      return typeof made === 'function' ? made : { ok: true, value: failedSubtask(subtaskId, made) as Json }
    },
    leftMs: ({ agent, world }) => (hasEnded(world, agent) ? 0 : timeoutMs - world.nowMs),
    ended: (run) => run.ended(),
    // Its calls are cancelled, so that what they may have cost counts. If the Runner has failed, what was committed counts.
    cutShort: (run) => run.abandon().catch(() => undefined),
    read: ({ agent, world }, end) => {
      return () => {
        const isLate = end === undefined && !hasEnded(world, agent)
        const failure = end?.ok === false ? { kind: end.kind, message: end.error } : undefined
        return { ok: true, value: endedSubtask(world, agent, asked, { failure, isLate }) as Json }
      }
    },
    calledOff: (run) => callOff(children, asked, spentIn(run?.world)),
  }
}

async function opened(children: Children, order: Order, context: EffectContext): Promise<MakeChildRunner | Failure> {
  const { asked, blueprint, budgetOwner, isRepeatable, wasRunning } = order
  const { agent, subtaskId, userMessage } = asked
  const left = wasRunning ? await leftBehind(children, subtaskId, context) : undefined
  if (left !== undefined) return left
  if (wasRunning && !isRepeatable) {
    const message = 'The World of the subtask is gone, and what it was at may have happened, or not, or in part.'
    return { kind: 'interrupted', message }
  }
  if (typeof blueprint === 'string') return { kind: 'invalid-request', message: `Unknown tool '${blueprint}'` }
  const session = { kind: 'subtask' as const, prompt: userMessage, sessionId: subtaskId }
  const made = await children.worlds.begin({ session, agent, blueprint, budgetOwner, history: [] })
  return typeof made === 'string' ? { kind: 'invalid-request', message: made } : made
}

function spentIn(world: World | undefined): SubtaskSpending {
  return world === undefined ? nothingSpent : subtaskSpending(world, agentOf(world))
}

/** Reports what a subtask has spent. Once that is committed, returns why its next model call may not begin. */
async function mayCall(
  children: Children,
  { agent, subtaskId }: SubtaskData,
  spent: SubtaskSpending,
): Promise<Failure | undefined> {
  await children.enter({ kind: 'subtask-spent', spent, subtaskId })
  const ceiling = children.world.get(agent, CostCeiling)
  return ceiling && { kind: 'budget-spent', message: ceilingMessage(ceiling) }
}

/** Reports the last of what a cancelled subtask has spent. Once that is committed, removes its World. */
function callOff(
  children: Children,
  { request, subtaskId }: Pick<SubtaskData, 'request' | 'subtaskId'>,
  spent: SubtaskSpending,
): void {
  const last = { kind: 'subtask-spent' as const, isOver: true as const, spent, subtaskId }
  const committed = children.enter(request === undefined ? last : { ...last, request })
  const discardIt = (isCommitted: boolean): void => {
    if (isCommitted) discard(children, subtaskId)
  }
  // A Runner that has failed reports that itself.
  committed.then(discardIt, () => undefined)
}

/** Removes the World of a finished subtask, unless everything is recorded. What cannot be removed stays. */
function discard(children: Children, subtaskId: string): void {
  // Until the last of its spending is entered, it stands in its World alone.
  if (children.isRecorded || accounts(children.world).includes(subtaskId)) return
  const remove = (): Promise<void> => children.worlds.remove(subtaskId)
  children.locked(subtaskId, remove).catch(() => undefined)
}

export function tellUntoldSubtasks(children: Children): void {
  const { world, worlds } = children
  const running = new Set(world.entitiesWith(Subtask).map((effect) => world.read(effect, Subtask).subtaskId))
  for (const subtaskId of accounts(world)) {
    if (running.has(subtaskId)) continue
    void children.locked(subtaskId, async () => {
      const left = await worlds.look(subtaskId).catch(() => undefined)
      callOff(children, { subtaskId }, spentIn(left))
    })
  }
}

/** Subtasks of which more may be to come. */
function accounts(world: World): readonly string[] {
  return world.entitiesWith(SubtaskAccount).map((account) => world.read(account, SubtaskAccount).subtaskId)
}

/**
 * A subtask's agent: its own prompt and message, and the named tools as its caller has them.
 * @returns the name of a tool that the caller no longer has, if there is one
 */
function subtaskBlueprint(
  world: World,
  { agent, maxOutputTokens, maxSteps, model, systemPrompt, tools: names }: SubtaskData,
): BlueprintData | string {
  const own = world.get(agent, ToolRegistry)?.tools ?? []
  const tools = own.filter(({ name, world: isWorldTool }) => names.includes(name) && isWorldTool !== true)
  const missing = names.find((name) => !tools.some((tool) => tool.name === name))
  if (missing !== undefined) return missing
  return {
    ...(world.has(agent, ApprovalsDenied) && { approvals: 'denied' as const }),
    ceiling: world.get(agent, ToolCeiling),
    ...(systemPrompt !== '' && { ending: systemPrompt }),
    hash: '',
    hostSkills: [],
    hostTools: [],
    llm: { ...llmFor(world.get(agent, Llm), model), ...(maxOutputTokens !== undefined && { maxOutputTokens }) },
    maxSteps,
    permissions: world.get(agent, Permissions),
    skills: [],
    template: '',
    tools,
  }
}

/** Another model comes with no options of the caller's, and none with tools of its provider's own. */
function llmFor(own: LlmData | undefined, model: string): LlmData {
  if (own?.model !== model) return { model }
  const { extra: _, ...options } = own
  return options
}
