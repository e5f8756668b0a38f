import { Due, Effect, OwnedBy, Pending, Running } from '../../components/effects/effect.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import { SubagentWait } from '../../components/sessions/subagent-wait.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import type { WatchedWorld } from './law.ts'

/** So many are named; of the rest, how many there are. */
const maxNamed = 20

/** Who waits for what, in all worlds of a run, for a report. */
export function whoWaits(worlds: ReadonlyMap<string, WatchedWorld>): string {
  const found = [...worlds.values()].flatMap(({ world, label }) => waitsIn(world).map((what) => `${label}: ${what}`))
  if (found.length === 0) return 'Nobody waits for anything that stands in a world.'
  const rest = found.length > maxNamed ? `\n  … and ${found.length - maxNamed} more` : ''
  return `Who waits for what:\n  ${found.slice(0, maxNamed).join('\n  ')}${rest}`
}

function waitsIn(world: World): string[] {
  const effects = new Set([...world.entitiesWith(Pending), ...world.entitiesWith(Running), ...world.entitiesWith(Due)])
  const waits = world.entitiesWith(SubagentWait).map((agent) => {
    const { mode, deadlineMs } = world.read(agent, SubagentWait)
    return `agent ${agent} sleeps until ${mode} of its sessions have ended${deadlineMs === null ? ', without a deadline' : ''}`
  })
  return [...Array.from(effects, (effect) => effectOf(world, effect)), ...waits]
}

function effectOf(world: World, effect: Entity): string {
  const { kind, attempt, deadlineMs, timeoutMs } = world.read(effect, Effect)
  const owner = world.get(effect, OwnedBy)?.agent ?? world.get(effect, SubagentSession)?.parent
  const tool = world.get(effect, ToolCall)?.name
  const session = world.get(effect, SubagentSession)?.status
  const due = world.get(effect, Due)?.atMs
  const bound = deadlineMs !== undefined || timeoutMs !== undefined ? '' : ', with no time-out'
  const what = `${kind}${tool === undefined ? '' : ` '${tool}'`}${session === undefined ? '' : ` (${session})`}`
  const since = due === undefined ? `try ${attempt}${bound}` : `its next try at ${due} ms`
  return `${owner === undefined ? '' : `agent ${owner} waits for `}${what}, effect ${effect}, ${since}`
}
