import type { DrivenStep } from '../../engine/effects/host-seams.ts'
import type { World } from '../../world/world.ts'
import type { WatchedTick } from '../law.ts'
import { ShadowWorld } from './shadow-world.ts'

/** What the worlds of a run were when they were last committed, by name. The laws of a run share them: whoever comes first leads on. */
export class Shadows {
  readonly #byName = new Map<string, ShadowWorld>()
  /** The newest tick, or the world that was just taken up, and what was found of it. */
  #about: DrivenStep | World | undefined
  #difference: string | undefined

  get({ name }: World): ShadowWorld | undefined {
    return this.#byName.get(name)
  }

  /** A world is taken up. Where it differs from what was committed of it last, if it does. */
  began(world: World): string | undefined {
    if (this.#about === world) return this.#difference
    this.#about = world
    this.#difference = this.#begin(world)
    return this.#difference
  }

  #begin(world: World): string | undefined {
    const before = this.get(world)
    const difference = before?.difference(world)
    // From here on it shares the values of the world that goes on.
    if (difference === undefined) this.#byName.set(world.name, new ShadowWorld(world))
    return difference
  }

  /** A tick is committed. Where it has not made the world that there is, in what it has touched. */
  ticked(tick: WatchedTick): string | undefined {
    if (this.#about === tick.step) return this.#difference
    this.#about = tick.step
    return (this.#difference = this.get(tick.world)?.apply(tick))
  }
}
