import type { Recording } from '../../engine/replay.ts'
import { recordingOf } from '../../engine/replay.ts'
import { openSnapshot } from '../../engine/loop/keeper.ts'
import type { Store } from '../../stores/port.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { SnapshotHead } from '../../world/snapshot.ts'

/** One world of a recording. */
export interface SavedWorld {
  readonly name: string
  readonly recording: Recording
}

/** A run that can be replayed, with the worlds of all its sessions. */
export interface SavedRecording {
  /** Name of the root world. */
  readonly root: string
  /** Of the root world: ids of its sessions are made of the name and this. */
  readonly seed: number
  /** The root first. */
  readonly worlds: readonly SavedWorld[]
}

/**
 * The recording of a root world and of all worlds of its sessions, out of a store.
 *
 * @throws `no-such-world`, `world-locked`, `invalid-argument` for a session's world and for one that was not recorded
 */
export async function recordingIn(store: Store, name: string): Promise<SavedRecording> {
  const infos = await store.list()
  const root = infos.find((info) => info.name === name)?.root
  if (root !== undefined) {
    const what = `World '${name}' is that of a session in the run of '${root}'`
    throw new EntiaError('invalid-argument', `${what}, and is saved with it: save the recording of '${root}'.`)
  }
  const sessions = infos.filter((info) => info.root === name).map((info) => info.name)
  const worlds: SavedWorld[] = []
  for (const world of [name, ...sessions]) {
    const recording = await recordingOf(store, world)
    assertRecorded(world, name, recording)
    worlds.push({ name: world, recording })
  }
  return savedRecording(name, worlds)
}

/** Worlds as one recording, whose seed is that of the first, the root. */
export function savedRecording(root: string, worlds: readonly SavedWorld[]): SavedRecording {
  const { lines } = openSnapshot((worlds[0] as SavedWorld).recording)
  const { seed } = JSON.parse(lines[0] as string) as SnapshotHead
  return { root, seed, worlds }
}

/** Only what is run to be replayed keeps who wrote what, and all its ticks. */
function assertRecorded(world: string, root: string, recording: Recording): void {
  const { codec } = openSnapshot(recording)
  for (const { tick, line } of recording.rows) {
    const { writers } = codec.decode(line, `recording of world '${world}', tick ${tick}`)
    if (writers !== undefined) continue
    const what = `Tick ${tick} of world '${world}' was run without record: true, so the run of '${root}' cannot be saved`
    const advice = 'Run it from its beginning with run(world, { store, record: true, … }), and save that run'
    throw new EntiaError('invalid-argument', `${what}. ${advice}.`, { world, tick })
  }
}
