import { HostFacts } from '../components/host-facts.ts'
import type { InputOf } from '../components/input.ts'
import { Outcome } from '../components/outcome.ts'
import { Running } from '../components/running.ts'
import type { World } from '../src/world/world.ts'
import { inputsOf } from './inputs-of.ts'

/**
 * Takes the world up again where a Runner left it: a `once` effect that had begun is settled as `interrupted`, since
 * it may have happened. All others are still pending and begin again by themselves.
 *
 * Query: Running. Writes: Outcome, HostFacts.
 */
export const restart = {
  name: 'restart',
  priority: -110,
  run(world: World): void {
    for (const input of inputsOf(world, 'started')) {
      for (const effect of world.query(Running)) {
        world.remove(effect, Running)
        const message = 'The process ended while this ran: it may have happened, or not, or in part.'
        world.add(effect, Outcome({ ok: false, failure: { kind: 'interrupted', message } }))
      }
      noteHost(world, input.retry)
    }
  },
}

function noteHost(world: World, retry: InputOf<'started'>['retry']): void {
  const [known] = world.query(HostFacts)
  const facts = HostFacts({ retry })
  if (known !== undefined) {
    if (JSON.stringify(world.get(known, HostFacts)) !== JSON.stringify(facts.initial)) world.add(known, facts)
  } else if (Object.keys(retry).length > 0) world.spawn(facts)
}
