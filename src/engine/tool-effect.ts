import { ToolCall } from '../../components/tool-call.ts'
import { OwnedBy } from '../../components/owned-by.ts'
import { thrownMessage } from '../tools/thrown-message.ts'
import type { EffectKind } from './effect-kind.ts'
import type { Tool } from '../tools/port.ts'

/** Tool calls: the handler is found on the Host by name. */
export function toolEffect(find: (name: string) => Tool | undefined): EffectKind {
  return {
    prepare(world, effect) {
      const { agent } = world.read(effect, OwnedBy)
      const { name, arguments: input } = world.read(effect, ToolCall)
      return async ({ attempt, key, signal, sleep, tell }) => {
        const tool = find(name)
        if (tool === undefined) {
          const message = `Tool '${name}' has no handler on this host.`
          return { ok: false, failure: { kind: 'internal', message } }
        }
        const progress = (message: string, fraction?: number): void =>
          tell({ type: 'tool-progressed', world: world.name, agent, effect, message, fraction })
        try {
          const output = await tool.call(input, { agent, attempt, key, signal, sleep, progress, world: world.name })
          return { ok: true, value: output }
        } catch (error) {
          return { ok: false, failure: { kind: 'tool-threw', message: thrownMessage(error) } }
        }
      }
    },
  }
}
