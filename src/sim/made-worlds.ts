import { EntiaError } from '../world/entia-error.ts'
import { World } from '../world/world.ts'
import { describeValue } from './describe-value.ts'

/** Every world that was simulated and is still there. */
const made = new WeakSet<World>()

/**
 * What `world` has made, if it is a World that no run has had: one that has been run is at its end, and would keep every law.
 *
 * @throws `invalid-argument`
 */
export function madeAnew(world: World): World {
  if (!(world instanceof World)) {
    throw new EntiaError(
      'invalid-argument',
      `simulate(): 'world' is a function that makes a World; it made ${describeValue(world)}.`,
    )
  }
  if (made.has(world)) {
    const what = `simulate(): 'world' gave the World '${world.name}' a second time`
    throw new EntiaError('invalid-argument', `${what}. Have it make a new one each time it is called.`)
  }
  made.add(world)
  return world
}
