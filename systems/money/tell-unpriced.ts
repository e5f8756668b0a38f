import { CeilingNotes } from '../../components/ceiling-notes.ts'
import { Ceilings } from '../../components/ceilings.ts'
import { OnAllowance } from '../../components/metered.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { tell } from '../tell.ts'

/** Tells once that a model without a price is called under a ceiling. Of a subtask the agent tells that pays for it. */
export function tellUnpriced(world: World, agent: Entity, model: string): void {
  if (!world.has(agent, Ceilings) || world.has(agent, OnAllowance)) return
  const notes = world.get(agent, CeilingNotes) ?? { neared: {}, unpriced: [] }
  if (notes.unpriced.includes(model)) return
  world.set(agent, CeilingNotes, { ...notes, unpriced: [...notes.unpriced, model] })
  tell(world, 'cost-unknown', { agent, model })
}
