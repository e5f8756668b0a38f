import * as standardComponents from '../../../components/index.ts'
import { standardSystems } from '../../../systems/index.ts'
import { loadRecording } from '../../sim/recording/recording-file.ts'
import { otherVersion, type Recording } from '../../engine/recording/recording.ts'
import { replay, type ReplayedWorld } from '../../engine/recording/replay.ts'
import { simulate, type SimulationResult } from '../../sim/simulate.ts'
import { cutText } from '../../base/cut-text.ts'
import { plainText } from '../../tools/files/clean-text.ts'
import type { Json } from '../../base/json.ts'
import { loadStories } from '../sim/load-stories.ts'
import { durationText, many } from '../terminal/amounts.ts'
import { UsageError } from '../parsed-words.ts'
import type { ReplayArguments } from './replay-arguments.ts'

/** `--json` prints values in full. */
const maxValueChars = 600

interface Writable {
  write(text: string): unknown
}

/** Prints the result and returns the exit code. @throws UsageError */
export async function replayFile({ file, story, onMiss, json }: ReplayArguments, out: Writable): Promise<number> {
  const saved = await loadRecording(file)
  const replayed = story === undefined ? exactly(saved) : await against(saved, story, onMiss)
  out.write(json ? `${JSON.stringify(replayed.data)}\n` : `${plainText(replayed.text)}\n`)
  return replayed.isSame ? 0 : 1
}

interface Replayed {
  readonly isSame: boolean
  readonly data: object
  readonly text: string
}

function exactly(saved: Recording): Replayed {
  const { worlds } = replay(saved, {
    systems: standardSystems(),
    components: Object.values(standardComponents),
  })
  const differences = worlds.filter(({ difference }) => difference !== undefined)
  const isSame = differences.length === 0
  const columns = Math.max(...worlds.map(({ label }) => label.length))
  const rows = worlds.map((world) => {
    const { label, ticks, hash, difference } = world
    return `  ${difference === undefined ? '✓' : '✗'} ${label.padEnd(columns)}  ${many(ticks, 'tick').padStart(12)}  ${hash}`
  })
  const [first] = differences
  const end =
    first === undefined
      ? `All ${many(sum(worlds), 'tick')} of ${many(worlds.length, 'world')} went the same way.`
      : differenceText(first)
  const text = [`recording of ${saved.root}`, ...rows, end].join('\n')
  return { isSame, data: { root: saved.root, same: isSame, worlds }, text }
}

function sum(worlds: readonly ReplayedWorld[]): number {
  return worlds.reduce((total, { ticks }) => total + ticks, 0)
}

function differenceText(world: ReplayedWorld): string {
  const { label, difference } = world
  if (difference === undefined) return ''
  const version = otherVersion(world)
  const { tick, system, component, recorded, replayed } = difference
  return [
    ...(version === undefined ? [] : [version]),
    `The first difference: ${label}, tick ${tick}, ${component}, written by ${system ?? 'no system'}`,
    `  recorded  ${valueText(recorded)}`,
    `  replayed  ${valueText(replayed)}`,
  ].join('\n')
}

function valueText(value: Json | undefined): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > maxValueChars ? `${cutText(text, maxValueChars)}… (all of it with --json)` : text
}

async function against(recording: Recording, file: string, onMiss: 'fail' | 'script'): Promise<Replayed> {
  const [[, story] = ['', undefined], ...others] = [...(await loadStories(file))]
  if (story === undefined || others.length > 0) {
    throw new UsageError(`${file} has several stories; a recording is replayed with one: export its options alone.`)
  }
  // Faults and users come from the recording.
  // oxlint-disable-next-line typescript/no-deprecated -- a story may still name its users so
  const { faults: _faults, users: _users, people: _people, onTrace: _onTrace, ...options } = story
  const result = await simulate({ ...options, recording, onMiss })
  const { ok, violation, hash, ticks, virtualMs, missed } = result
  const isSame = ok && missed.length === 0
  return {
    isSame,
    data: { root: recording.root, same: isSame, hash, ticks, virtualMs, missed, violation },
    text: [`recording of ${recording.root}, replayed with ${file}`, ...againstLines(result)].join('\n'),
  }
}

function againstLines({ ok, violation, hash, ticks, virtualMs, missed }: SimulationResult): string[] {
  const totals = `  ${many(ticks, 'tick')} · ${durationText(virtualMs)} of world time · hash ${hash}`
  const [first] = missed
  if (first === undefined) {
    const end = ok ? 'Whatever was asked is in the recording.' : `Law broken: ${violation?.law}. ${violation?.message}`
    return [totals, end]
  }
  const more = missed.length > 1 ? [`After that, ${many(missed.length - 1, 'other request')} had no answer there.`] : []
  // A run that ends at its first miss reports it as a broken law with the same message.
  const broken =
    ok || violation?.message.includes(first.message) === true
      ? []
      : [`Law broken: ${violation?.law}. ${violation?.message}`]
  return [totals, `The first difference: ${first.message}`, ...more, ...broken]
}
