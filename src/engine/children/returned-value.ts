import { oneLine } from '../../base/one-line.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import { Handle, HandleText, Workspace } from '../../../components/agent/handle.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { handleNumber } from '../../rules/handles/handle-name.ts'
import { cutText } from '../../base/cut-text.ts'
import type { NamedValue } from '../../tools/port.ts'
import type { Entity } from '../../world/component.ts'
import type { Json } from '../../base/json.ts'
import type { EffectContext } from '../effects/effect-kind.ts'
import { WorldHandles } from '../effects/world-handles.ts'
import type { ChildRun } from './child-run.ts'
import type { Children } from './children.ts'

const maxNameChars = 60

/** A value that a question is to give besides its reply. */
interface Returned {
  /** The one who asks, and gets it under a handle of its own. */
  readonly agent: Entity
  /** A name or a handle of the session. */
  readonly name: string
  readonly run: ChildRun
  /** Of the question. */
  readonly context: EffectContext
}

/**
 * Finds a value of a session that has answered, and keeps it for the asker. Reads the session's World now; the returned function
 * gives the note for the end of the reply.
 */
export function returnedValue(children: Children, { agent, context, name, run }: Returned): () => Promise<string> {
  const { world } = children
  const found = lookUp(children, run, name.trim(), context.signal)
  const missed = (why: string): string =>
    `[returnName ${JSON.stringify(cutText(oneLine(name), maxNameChars, '…'))}: ${why}]`
  return async () => {
    if (!world.has(agent, Workspace)) return missed('this agent stores no values')
    const result = await found()
    if ('why' in result) return missed(result.why)
    try {
      return `[stored as ${await new WorldHandles(world, agent, context).keep(result.value)}]`
    } catch (error) {
      context.signal.throwIfAborted()
      return missed(`it could not be stored: ${thrownMessage(error)}`)
    }
  }
}

/** A handle, or else what one of the session's tools keeps under the name. */
function lookUp(children: Children, run: ChildRun, name: string, signal: AbortSignal): () => Promise<NamedValue> {
  const { agent, world } = run
  const number = handleNumber(name)
  if (number !== undefined) return storedValue(children, run, number)
  const tools = world.get(agent, ToolRegistry)?.tools ?? []
  const keeper = tools.map((tool) => children.host.tool(tool.name)).find((tool) => tool?.named !== undefined)
  return async () => {
    if (keeper?.named === undefined) return { why: 'this subagent has no tool that keeps values' }
    return keeper.named(name, { agent, signal, world: world.name })
  }
}

function storedValue({ records }: Children, { agent, world }: ChildRun, number: number): () => Promise<NamedValue> {
  const entity = world.referrers(Handle, agent).find((one) => world.read(one, Handle).number === number)
  const handle = entity === undefined ? undefined : world.read(entity, Handle)
  const text = entity === undefined ? undefined : world.get(entity, HandleText)?.text
  return async () => {
    if (handle === undefined) return { why: 'there is no such handle' }
    const { kind, recordPath } = handle
    if (recordPath === undefined) return { why: 'it cannot be copied' }
    const kept = text ?? (await records.get(recordPath))?.text
    if (kept === undefined) return { why: 'its value is gone' }
    return { value: kind === 'text' ? kept : (JSON.parse(kept) as Json) }
  }
}
