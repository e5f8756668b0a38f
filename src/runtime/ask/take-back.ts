import { Archive } from '../../../components/context/archive.ts'
import { Rewound } from '../../../components/agent/rewound.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { shortly } from '../../base/known-options.ts'
import type { WorldDriver } from '../../engine/loop/world-driver.ts'
import { type RewindPoint, rewindPoint, saidCount } from '../../rules/projection/rewind-point.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/**
 * Takes back the last messages of an agent's user, and all that came behind the first of them. Resolves once that is committed.
 * @throws by its promise: as `pointBack`, and `invalid-argument` where the conversation has changed meanwhile
 */
export async function takeBack(
  driver: Pick<WorldDriver, 'post' | 'world'>,
  agent: Entity,
  count: number,
): Promise<void> {
  const { seq: fromSeq } = pointBack(driver.world, agent, count)
  await driver.post({ kind: 'rewind', agent, messages: count, fromSeq })
  if (isTakenBack(driver.world, agent, fromSeq)) return
  const what = 'The conversation has changed meanwhile, and nothing was taken back.'
  throw new EntiaError('invalid-argument', `rewind: ${what} Try again.`, { fromSeq })
}

/** Where a conversation goes back to. @throws `invalid-argument` for a count that is none, or more than the user has said */
export function pointBack(world: World, agent: Entity, count: unknown): RewindPoint {
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 1) {
    const what = `count must be a whole number of messages, 1 or more, got ${shortly(count)}.`
    throw new EntiaError('invalid-argument', `rewind: ${what}`)
  }
  const point = rewindPoint(world, agent, count)
  if (point !== undefined) return point
  const said = saidCount(world, agent)
  const there = said === 1 ? 'is one message' : `are ${said} messages`
  const archived = world.has(agent, Archive) ? ' An archived turn counts as one.' : ''
  const what =
    said === 0 ? 'There is nothing to take back yet.' : `There ${there} to take back, got ${count}.${archived}`
  throw new EntiaError('invalid-argument', `rewind: ${what}`, { said })
}

export function isTakenBack(world: World, agent: Entity, seq: number): boolean {
  const ranges = world.get(agent, Rewound)?.ranges ?? []
  return ranges.some(({ fromSeq, toSeq }) => fromSeq <= seq && seq <= toSeq)
}
