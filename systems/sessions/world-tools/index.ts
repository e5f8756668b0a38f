import { chat } from './chat.ts'
import { agentic, markTaskDone, recall } from './context-tools.ts'
import { callTool, findTools } from './deferred-tools.ts'
import { exitPlanMode } from './exit-plan-mode.ts'
import {
  collectSubagent,
  killSubagent,
  listSubagents,
  querySubagent,
  subagentCancel,
  subagentResult,
  subagentStatus,
} from './session-tools.ts'
import { spawnSubagent, subagent, subagentResume } from './launch-tools.ts'
import { subagentWait } from './subagent-wait.ts'
import type { WorldTool } from './world-tool.ts'

/** Tools that change the world inside the tick, by name. */
export function worldTools(defaultTimeoutMs: number | undefined): ReadonlyMap<string, WorldTool> {
  return new Map([
    ['subagent', subagent(defaultTimeoutMs)], //  launches a session
    ['subagent_status', subagentStatus], //       tells how sessions stand
    ['subagent_result', subagentResult], //       reads a session's result, or waits for it
    ['subagent_cancel', subagentCancel], //       ends a session
    ['subagent_wait', subagentWait], //           puts the agent to sleep until sessions have ended
    ['subagent_resume', subagentResume], //       goes on with a session that did not succeed
    ['spawn_subagent', spawnSubagent(defaultTimeoutMs)], // launches a worker with tools of the caller's choosing
    ['mark_task_done', markTaskDone], //          a record takes the place of a task that is done
    ['recall', recall], //                        searches what the agent no longer sees of its conversation
    ['chat', chat], //                            asks a model once, in a subtask
    ['query_subagent', querySubagent], //         puts a further question to a session that has succeeded
    ['collect_subagent', collectSubagent], //     reads what a worker has found, or waits for it
    ['list_subagents', listSubagents], //         lists the workers
    ['kill_subagent', killSubagent], //           ends a worker for good
    ['exit_plan_mode', exitPlanMode], //          ends plan mode, once a person has approved the plan
    ['find_tools', findTools], //                 searches tools that the model is not shown
    ['call_tool', callTool], //                   answers a call of one that is not there
    ...agentic, //                                have a smaller model read, and return its digest
  ])
}
