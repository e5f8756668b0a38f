import { agent, defineTool, type Entity, Limits, scripted, standardSystems, SubagentRegistry, World } from 'entia'
import { simulatedUser, type SimulateOptions } from 'entia/sim'
import { z } from 'zod'
import { everyFault } from './every-fault.ts'
import { calls, spoken } from './spoken.ts'
import { look } from './team.ts'

const clerks = [1, 2, 3, 4]
const stamp = defineTool({
  name: 'stamp',
  description: 'Stamps a form.',
  input: z.object({}),
  restart: 'once',
  run: () => 'stamped',
})
/** The owner speaks for so long. */
const maxTick = 40

function help(prompt: string) {
  return ['subagent', { category: 'helper', prompt, background: false }] as const
}

function isOf(clerk: Entity, tick: number, each: number): boolean {
  return (clerk + tick) % each === 0
}

/**
 * Four agents and their sessions share a provider that takes one call at a time. Their owner stops steps and cancels turns as soon as
 * calls are made and sessions are launched: most stand in its line then. A step waits for two sessions, which both end with it.
 */
export default {
  tools: [look, stamp],
  maxInFlight: 2,
  maxInFlightPerProvider: { clerk: 1 },
  models: {
    clerk: scripted((request) => {
      const at = spoken(request) % 3
      if (at === 0 && request.tools.some(({ name }) => name === 'subagent')) {
        return calls(help('first'), ['look', {}], help('second'))
      }
      return at < 2 ? calls(['stamp', {}], ['look', { at: `${at}` }]) : 'Done.'
    }),
  },
  world(seed) {
    const world = new World({ name: 'office', seed, systems: standardSystems() })
    const helper = { name: 'helper', model: 'clerk/small', tools: ['look'] }
    for (const number of clerks) {
      const clerk = agent({ model: 'clerk/x', tools: [look, stamp], messages: `Begin ${number}` })
      world.spawn(...clerk, Limits({ maxSteps: 30 }), SubagentRegistry({ subagents: { helper } }))
    }
    return world
  },
  users: {
    owner: simulatedUser(
      (seen) => {
        if ('path' in seen || !('tick' in seen) || !('agent' in seen) || typeof seen.agent !== 'number')
          return undefined
        const { agent: clerk, tick, type } = seen
        if (type === 'step-stopped') return { say: `Go on after ${tick}.`, to: clerk }
        if (type === 'turn-ended' && tick < maxTick) return { say: `And after ${tick}?`, to: clerk }
        if ((type !== 'model-called' && type !== 'session-queued') || tick >= maxTick) return undefined
        if (isOf(clerk, tick, 3)) return { stopStep: clerk }
        return isOf(clerk, tick, 7) ? { cancel: clerk, reason: 'Never mind.' } : undefined
      },
      { reactionMs: [0, 6_000] },
    ),
  },
  faults: everyFault,
} satisfies SimulateOptions
