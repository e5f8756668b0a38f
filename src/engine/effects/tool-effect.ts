import { ToolCall } from '../../../components/agent/tool-call.ts'
import { Workspace } from '../../../components/agent/handle.ts'
import { Judgement, Policy } from '../../../components/agent/policy.ts'
import { Retrieval } from '../../../components/agent/workspace-entry.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import type { FileFact } from '../../protocol/file-fact.ts'
import { knownFiles } from '../../rules/workspace/entries-of.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import type { Entity } from '../../world/component.ts'
import { isThenable } from '../../base/is-thenable.ts'
import type { StandardInput } from '../../protocol/input.ts'
import type { OwnInput } from '../../world/input.ts'
import { userMessage } from '../../protocol/message.ts'
import type { World } from '../../world/world.ts'
import type { EffectContext, EffectKind } from './effect-kind.ts'
import { WorldHandles } from './world-handles.ts'
import type { Tool, ToolContext, ToolOutput } from '../../tools/port.ts'

export function toolEffect(find: (name: string) => Tool | undefined): EffectKind {
  return {
    prepare(world, effect) {
      const { agent } = world.read(effect, OwnedBy)
      const { name, arguments: input } = world.read(effect, ToolCall)
      const hasWorkspace = world.has(agent, Workspace)
      const places = world.get(effect, Judgement)?.places
      const policy = world.get(agent, Policy)
      const known = world.has(agent, Retrieval) ? filesFor(world, agent, find(name)) : undefined
      return (context) => {
        const tool = find(name)
        if (tool === undefined) {
          const message = `Tool '${name}' has no handler on this host.`
          return { ok: false, failure: { kind: 'internal', message } }
        }
        const { attempt, key, sleep } = context
        const progress: ToolContext['progress'] = (message, fraction) =>
          context.emit({ type: 'tool-progressed', world: world.name, agent, effect, message, fraction })
        const handles = hasWorkspace ? new WorldHandles(world, agent, context) : undefined
        const { message, post } = posting(agent, context)
        const toolContext: ToolContext = {
          agent,
          attempt,
          handles,
          key,
          knownFiles: known,
          message,
          places,
          policy,
          post,
          progress,
          // Most tools never look at it. An own property, since contexts are copied.
          get signal() {
            return context.signal
          },
          sleep,
          world: world.name,
        }
        try {
          const output = tool.call(input, toolContext)
          return isThenable(output) ? Promise.resolve(output).then(succeeded, threw) : succeeded(output)
        } catch (error) {
          return threw(error)
        }
      }
    },
  }
}

/** What a call says to its own world: numbered, so that one that runs again says nothing twice. */
function posting(agent: Entity, context: EffectContext): Pick<ToolContext, 'message' | 'post'> {
  let posts = 0
  const post = async (input: StandardInput | OwnInput): Promise<void> => {
    if (context.isAborted) context.signal.throwIfAborted()
    await context.post(input, `${context.key}/${++posts}`)
  }
  return { post, message: async (message) => post({ kind: 'message', agent, message: userMessage(message) }) }
}

/** Only what runs programs may change other files than it names. */
function filesFor(world: World, agent: Entity, tool: Tool | undefined): readonly FileFact[] {
  return tool?.declaration.operation === 'exec' ? knownFiles(world, agent) : []
}

function succeeded(value: ToolOutput): OutcomeData {
  return { ok: true, value }
}

function threw(error: unknown): OutcomeData {
  return { ok: false, failure: { kind: 'tool-threw', message: thrownMessage(error) } }
}
