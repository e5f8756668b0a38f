import type { Recording } from '../../engine/recording/recording.ts'
import { replay, type ReplayedWorld, type ReplayOptions } from '../../engine/recording/replay.ts'

/** @deprecated It is `Recording` of `entia`. */
export type SavedRecording = Recording

/** @deprecated Use `replay` of `entia`: it takes what `loadRecording` gives, and its result has `worlds`. */
export function replaySaved(saved: Recording, options: ReplayOptions): readonly ReplayedWorld[] {
  return replay(saved, options).worlds
}
