import { Archive } from '../../../components/context/archive.ts'
import type { BoundaryEntry } from '../../protocol/context.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { Rewound } from '../../../components/agent/rewound.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/**
 * The number of messages up to a `seq`, from 1. An archived turn leaves its first message, and a placeholder with the
 * `seq` of its last; what a user took back leaves nothing.
 */
export function countUpTo(world: World, agent: Entity, seq: number): number {
  let count = seq
  const rewound = world.get(agent, Rewound)?.ranges ?? []
  for (const { fromSeq, toSeq } of rewound) count -= Math.max(0, Math.min(seq, toSeq) - fromSeq + 1)
  for (const { fromSeq, status, toSeq } of world.get(agent, Archive) ?? []) {
    // What was taken back is gone with its archived turns.
    if (rewound.some((part) => part.fromSeq <= fromSeq && toSeq <= part.toSeq)) continue
    if (status === 'archived') count -= Math.max(0, Math.min(seq, toSeq - 1) - fromSeq)
  }
  return Math.max(0, count)
}

/** How many messages a boundary covers. One between a call and its result covers neither. */
export function coveredBy(world: World, agent: Entity, { seq }: Pick<BoundaryEntry, 'seq'>): number {
  const conversation = world.get(agent, Conversation) ?? []
  let count = countUpTo(world, agent, seq)
  while (count > 0 && conversation[count]?.role === 'tool') count--
  return count
}
