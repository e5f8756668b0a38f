import type { World } from '../../world/world.ts'
import { Runner } from './runner.ts'
import type { RunnerOptions, RunnerStats } from './runner-options.ts'

/**
 * Drives a world until nothing is in flight and nothing is due, then stops. An approval that an input answers
 * (`approve: 'by-input'`) is in flight until it is answered.
 * @throws what `Runner.start` refuses, and what the Runner fails with. How agents fared is in the world (`LastTurn`).
 */
export async function run(world: World, options: RunnerOptions = {}): Promise<RunnerStats> {
  const runner = new Runner(world, options)
  try {
    await runner.start()
    await runner.idle()
    return runner.stats
  } finally {
    await runner.stop()
  }
}
