import { withoutContent } from '../engine/loop/stored-ticks.ts'
import type { DrivenWorld } from '../engine/effects/host-seams.ts'
import type { SavedWorld } from '../engine/recording/recording.ts'
import { headerOf, lastWriters } from '../world/inspection.ts'
import type { Joint } from '../world/joint.ts'
import { JournalCodec, type Step } from '../world/journal.ts'
import type { Header } from '../world/changes.ts'
import type { SnapshotEnd } from '../world/snapshot.ts'
import { version } from '../base/version.ts'

interface KeptWorld {
  readonly name: string
  readonly tick: number
  readonly header: Header
  readonly lines: readonly string[]
  readonly steps: Step[]
}

/** All ticks of a run's worlds, as they were committed. Most are never read: they become lines when they are asked for. */
export class RunHistory {
  readonly #worlds = new Map<string, KeptWorld>()

  began({ world }: DrivenWorld): void {
    // After a crash it goes on where it was.
    if (this.#worlds.has(world.name)) return
    const kept = {
      name: world.name,
      tick: world.tick,
      header: headerOf(world),
      lines: [...world.snapshot()],
      steps: [],
    }
    this.#worlds.set(world.name, kept)
  }

  ticked({ world }: DrivenWorld, { delta, events, inputs }: Step): void {
    const kept = this.#worlds.get(world.name)
    // Of a tick that is told twice, the first counts.
    if (kept === undefined || delta.tick !== kept.tick + kept.steps.length + 1) return
    kept.steps.push({ delta, events, inputs, writers: lastWriters(world) })
  }

  /** The root first. */
  saved(): readonly SavedWorld[] {
    return [...this.#worlds.values()].map(({ header, lines, name, steps, tick }) => {
      const { end } = JSON.parse(lines.at(-1) as string) as SnapshotEnd
      const codec = new JournalCodec(end.sha256, header)
      const joint: Joint = { chain: codec.chain, events: [], version }
      const rows = steps.map((step) => {
        return { tick: step.delta.tick, line: codec.encode({ ...step, events: withoutContent(step.events) }) }
      })
      return { name, snapshot: { tick, lines: [JSON.stringify(joint), ...lines] }, rows }
    })
  }
}
