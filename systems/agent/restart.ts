import { Effect } from '../../components/effects/effect.ts'
import { HostFacts, type HostFactsData } from '../../components/agent/host-facts.ts'
import { Outcome, type OutcomeData } from '../../components/effects/outcome.ts'
import { Pending } from '../../components/effects/pending.ts'
import { Running } from '../../components/effects/running.ts'
import type { World } from '../../src/world/world.ts'
import { inputsOf } from '../kit/inputs-of.ts'
import { applyToolChanges, keptTools } from './tool-changes.ts'

/** How a `once` effect ends that was running when the process ended. */
export const interrupted: OutcomeData = {
  ok: false,
  failure: {
    kind: 'interrupted',
    message: 'The process ended while this ran: it may have happened, or not, or in part.',
  },
}

/**
 * Takes the world up again where a Runner left it: a `once` effect that had begun is settled as `interrupted`, since
 * it may have happened. A `keyed` tool call that may have begun has another try. Sessions go on from their own journals; all
 * others are still pending and begin again by themselves. Tools that the Host declares otherwise than before are renewed.
 *
 * Query: Running; ToolRegistry. Writes: Outcome, Effect, Pending, ToolRegistry, HostFacts.
 */
export const restart = {
  name: 'restart',
  priority: -110,
  wakes: ['started'],
  run(world: World): void {
    for (const input of inputsOf(world, 'started')) {
      for (const effect of world.query(Running)) {
        if (world.read(effect, Effect).restart === 'resumable') continue
        world.remove(effect, Running)
        world.add(effect, Outcome(interrupted))
      }
      for (const effect of input.reruns ?? []) {
        // Its handler can tell, and so can the model if it fails now.
        if (world.has(effect, Pending)) world.patch(effect, Effect, { attempt: world.read(effect, Effect).attempt + 1 })
      }
      if (input.tools !== undefined) applyToolChanges(world, input.tools)
      if (input.host !== undefined) noteHost(world, input.host)
    }
  },
}

function noteHost(world: World, host: HostFactsData): void {
  const kept = keptTools(world, host)
  const facts = HostFacts({ ...host, ...(kept !== undefined && { keptTools: kept }) })
  const [known] = world.query(HostFacts)
  if (known === undefined) world.spawn(facts)
  else if (JSON.stringify(world.read(known, HostFacts)) !== JSON.stringify(facts.initial)) world.add(known, facts)
}
