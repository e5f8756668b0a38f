import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { thrownMessage } from '../../base/thrown-message.ts'
import { failureReport } from '../../sim/failure-report.ts'
import { saveRun } from '../../sim/recording/recording-file.ts'
import type { RunFactsDetails } from '../../sim/run-facts.ts'
import { standardLaws } from '../../sim/laws/index.ts'
import { simulate, type SimulationResult } from '../../sim/simulate.ts'
import { timelinePage } from '../../sim/timeline-page.ts'
import { plainText } from '../../tools/files/clean-text.ts'
import type { Interruption } from '../interruption.ts'
import { UsageError } from '../parsed-words.ts'
import { durationText, many, numberText } from '../terminal/amounts.ts'
import type { Output } from '../terminal/screen.ts'
import { Job, jobCount } from './jobs.ts'
import type { Stories, StoryOptions } from './load-stories.ts'
import type { SimArguments } from './sim-arguments.ts'
import { type StorySweep, sweepStory } from './sweep-story.ts'
import { sweepSummary, SweepView } from './sweep-view.ts'

export interface SimOutside {
  readonly out: Output
  readonly isDumb: boolean
  readonly interruption: () => Interruption
  /** The command line of a job, without the file. */
  readonly job: readonly string[]
}

interface Pictures {
  /** Where the run was saved. */
  readonly saved?: string
  readonly trace?: readonly string[]
  readonly mermaid?: string
  readonly html?: string
}

/** Returns the exit code. @throws UsageError */
export async function sim(stories: Stories, asked: SimArguments, outside: SimOutside): Promise<number> {
  return asked.seed === undefined ? sweepAll(stories, asked, outside) : oneSeed(stories, asked.seed, asked, outside)
}

async function oneSeed(stories: Stories, seed: number, asked: SimArguments, { out }: SimOutside): Promise<number> {
  const [name, story] = [...stories][0] as [string, StoryOptions]
  const result = await runOne(story, seed)
  const details = { name: name === '' ? undefined : name, options: Object.keys(story) }
  const pictures = await picturesOf(result, asked, details)
  const { ok, hash, ticks, crashes, checks, virtualMs, faults, violation, trace } = result
  if (asked.json) {
    const facts = { ok, seed, hash, traceHash: trace.hash, ticks, crashes, checks, virtualMs, faults, violation }
    await write(out, `${JSON.stringify({ story: name, ...facts, ...pictures })}\n`)
    return ok ? 0 : 1
  }
  await writePictures(out, pictures)
  // Output for other programs stands alone.
  if (asked.mermaid) return ok ? 0 : 1
  const how = ok ? 'every law held' : `law broken: ${violation?.law}. ${violation?.message}`
  const facts = [
    many(ticks, 'tick'),
    `${durationText(virtualMs)} of world time`,
    crashes === 1 ? '1 crash' : `${numberText(crashes)} crashes`,
    many(faults.length, 'fault'),
  ]
  const hint = isAnyAsked(asked) ? '' : '--save FILE, --html FILE, --trace and --mermaid show what happened.\n'
  const report = ok ? '' : `\n${reportOn(result, story)}\n`
  const seen = seenBy(asked, ok ? undefined : seed, pictures)
  await write(out, plainText(`seed ${seed}: ${how}\n${facts.join(' · ')}\nhash ${hash}\n${hint}${report}${seen}`))
  return ok ? 0 : 1
}

async function sweepAll(stories: Stories, asked: SimArguments, outside: SimOutside): Promise<number> {
  const { out, isDumb } = outside
  const { signal, exitCode } = outside.interruption()
  const view = asked.json ? undefined : new SweepView(out, { isDumb })
  const jobs = Array.from({ length: jobCount(asked.jobs, asked.seeds) }, () => new Job(asked.file, outside.job))
  const swept: StorySweep[] = []
  try {
    await Promise.all(jobs.map((job) => job.ready()))
    for (const [name, story] of stories) {
      if (signal.aborted) break
      const { seeds, from, keepGoing } = asked
      view?.begin({ story: name, seeds, from, jobs: jobs.length })
      const onProgress = (sweep: StorySweep): void => view?.tell(sweep)
      const sweep = await sweepStory(name, { seeds, from, keepGoing, jobs, signal, onProgress })
      swept.push(sweep)
      view?.end(sweepSummary(sweep, { from, jobs: jobs.length, laws: lawsOf(story) }))
      if (sweep.failure !== undefined && !asked.json)
        await write(out, `${plainText(sweep.failure.report).trimEnd()}\n\n`)
    }
  } finally {
    for (const job of jobs) job.end()
  }
  const pictures = await picturesOfSweep(stories, swept, asked, signal)
  const failed = swept.find(({ failure }) => failure !== undefined)
  const seen = seenBy(asked, failed?.failure?.seed, pictures, failed?.story)
  if (!asked.json && seen !== '') await write(out, seen)
  if (asked.json) await write(out, `${JSON.stringify({ ...jsonOf(swept, asked, jobs.length, signal), ...pictures })}\n`)
  else await writePictures(out, pictures)
  if (signal.aborted) return exitCode()
  return swept.every(({ failure }) => failure === undefined) ? 0 : 1
}

/** Of the lowest failing seed of the first story that failed, else of the very first seed. */
async function picturesOfSweep(
  stories: Stories,
  swept: readonly StorySweep[],
  asked: SimArguments,
  signal: AbortSignal,
): Promise<Pictures> {
  const chosen = swept.find(({ failure }) => failure !== undefined) ?? swept[0]
  const story = chosen && stories.get(chosen.story)
  if (story === undefined || !isAnyAsked(asked) || signal.aborted) return {}
  const { failure } = chosen ?? {}
  const result = await runOne(story, failure?.seed ?? asked.from)
  return picturesOf(result, asked, {
    name: chosen?.story === '' ? undefined : chosen?.story,
    options: Object.keys(story),
    ...(failure !== undefined && { report: failure.report, shrunk: failure.shrunk }),
  })
}

/** As a shell takes it. */
function shown(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : JSON.stringify(file)
}

/** How a run is looked at: by the file that was written, or by one that a further run writes. */
function seenBy(asked: SimArguments, failedSeed: number | undefined, { saved }: Pictures, story = asked.story): string {
  const named = story === undefined || story === '' ? '' : ` --story ${shown(story)}`
  const inspected = (file: string): string => `entia inspect ${shown(file)} --with ${shown(asked.file)}${named}`
  if (saved !== undefined) return `Saved to ${saved}. To look at it: ${inspected(asked.save ?? saved)}\n`
  if (failedSeed === undefined) return ''
  const again = `entia sim ${shown(asked.file)}${named} --seed ${failedSeed} --save failure.json`
  return `To look at it: ${again}, then ${inspected('failure.json')}\n`
}

function jsonOf(swept: readonly StorySweep[], { seeds, from }: SimArguments, jobs: number, signal: AbortSignal) {
  const stories = swept.map(({ story, tally, failure, realMs }) => {
    const runsPerSecond = realMs > 0 ? (tally.runs / realMs) * 1_000 : 0
    return { story, ok: failure === undefined, ...tally, failure, realMs: Math.round(realMs), runsPerSecond }
  })
  const ok = !signal.aborted && stories.every((story) => story.ok)
  return { ok, seeds, from, jobs, isStopped: signal.aborted, stories }
}

async function writePictures(out: Output, { trace, mermaid, html }: Pictures): Promise<void> {
  const where = html === undefined || mermaid !== undefined ? undefined : `The page is ${html}`
  const texts = [trace?.map(plainText).join('\n'), mermaid, where]
  for (const text of texts) if (text !== undefined) await write(out, `${text}\n`)
}

function runOne(story: StoryOptions, seed: number): Promise<SimulationResult> {
  const { onTrace: _onTrace, ...options } = story
  return simulate({ ...options, seed })
}

function reportOn(result: SimulationResult, story: StoryOptions): string {
  return failureReport(result, { options: Object.keys(story) })
}

/** @throws UsageError if a file cannot be written */
async function picturesOf(
  result: SimulationResult,
  { html, mermaid, save, trace }: SimArguments,
  details: RunFactsDetails,
): Promise<Pictures> {
  if (html !== undefined) writePage(html, await timelinePage(result, details))
  if (save !== undefined) await saveRun(result, save, details)
  return {
    ...(save !== undefined && { saved: resolve(save) }),
    ...(trace && { trace: result.trace.lines }),
    ...(mermaid && { mermaid: result.trace.toMermaid() }),
    ...(html !== undefined && { html: resolve(html) }),
  }
}

function writePage(file: string, page: string): void {
  try {
    writeFileSync(file, page)
  } catch (error) {
    throw new UsageError(`The page cannot be written: ${thrownMessage(error)}.`)
  }
}

function isAnyAsked({ html, mermaid, save, trace }: SimArguments): boolean {
  return html !== undefined || save !== undefined || mermaid || trace
}

function lawsOf({ laws = standardLaws }: StoryOptions): number {
  return laws.length
}

/** Waits for a slow pipe: the process must not end before all is written. */
async function write(out: Output, text: string): Promise<void> {
  // A closed pipe aborts through the interruption.
  if (!out.write(text)) await once(out, 'drain').catch(() => undefined)
}
