import { type Difference, replay, type ReplayOptions } from '../../engine/replay.ts'
import { tokensOf } from '../../world/restore.ts'
import { recordedWorlds } from './recorded-worlds.ts'
import type { SavedRecording } from './saved-recording.ts'

/** What became of one world of a recording that was replayed. Plain data. */
export interface ReplayedWorld {
  readonly name: string
  /** As a simulation's trace names it: `team`, or `team/1.2` for the second session of agent 1. */
  readonly label: string
  /** How many ticks went the same way. */
  readonly ticks: number
  /** SHA-256 of the world as it is after those. */
  readonly hash: string
  /** The first difference; absent: the whole run went the same way. */
  readonly difference?: Difference
}

/**
 * Runs the inputs of every world of a recording through the systems again, the root first: no model is called, no tool
 * run. Each world stops at its first difference.
 *
 * @throws `corrupt-snapshot`, `corrupt-journal`, and what restoring throws
 */
export function replaySaved(saved: SavedRecording, { systems, components }: ReplayOptions): readonly ReplayedWorld[] {
  const tokens = tokensOf(components)
  return Array.from(recordedWorlds(saved, tokens), ({ name, label, recording }) => {
    const { ticks, hash, difference } = replay(recording, { systems, components: tokens })
    return { name, label, ticks, hash, ...(difference && { difference }) }
  })
}
