import { OwnedBy } from '../../../components/effects/effect.ts'
import { ToolCall } from '../../../components/agent/tool-call.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Law } from '../law.ts'

const saysSo = /may have (happened|taken effect)/

/** The first run may have taken effect: the handler learns it from the attempt, the model from the error text. */
export const rerunsKnown: Law = {
  concern: { events: ['tool-answered'] },
  name: 'reruns-known',
  meaning:
    "A 'keyed' call that runs again has a higher attempt, and if it fails the model reads that it may have happened.",
  watch() {
    /** The newest attempt of each call, by world and effect. */
    const begun = new Map<string, number>()
    /** Tools whose calls ran again, by world, agent and call. */
    const again = new Map<string, string>()
    return {
      called({ kind, name, restart, world, effect, attempt, label }) {
        if (kind !== 'tool' || restart !== 'keyed') return undefined
        const key = `${world.name} ${effect}`
        const before = begun.get(key)
        begun.set(key, attempt)
        if (before === undefined) return undefined
        if (attempt <= before)
          return `'${name}' runs again for effect ${effect} of ${label}, and gets attempt ${attempt}`
        const asked = callOf(world, effect)
        if (asked !== undefined) again.set(asked, name)
        return undefined
      },
      ticked({ world, label, step }) {
        for (const event of step.events) {
          if (event.type !== 'tool-answered') continue
          const key = keyOf(world, event['agent'] as Entity, event['callId'] as string)
          const name = again.get(key)
          if (name === undefined) continue
          again.delete(key)
          if (event['isError'] !== true || saysSo.test(JSON.stringify(event['result']))) continue
          return `'${name}' of ${label} ran again and failed, and the model does not read that it may have happened`
        }
        return undefined
      },
    }
  },
}

function callOf(world: World, effect: Entity): string | undefined {
  const call = world.get(effect, ToolCall)
  const agent = world.get(effect, OwnedBy)?.agent
  return call === undefined || agent === undefined ? undefined : keyOf(world, agent, call.callId)
}

function keyOf(world: World, agent: Entity, callId: string): string {
  return `${world.name} ${agent} ${callId}`
}
