import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { failureReport } from '../../sim/failure-report.ts'
import { simulate, type SimulationResult } from '../../sim/simulate.ts'
import { timelinePage } from '../../sim/timeline-page.ts'
import { thrownMessage } from '../../rules/text/thrown-message.ts'
import { UsageError } from '../usage-error.ts'
import type { StoryOptions } from './load-stories.ts'
import type { SimArguments } from './sim-arguments.ts'

/** What is to be shown of one run. */
type PicturesAsked = Pick<SimArguments, 'html' | 'mermaid' | 'trace'>

export interface Pictures {
  readonly trace?: readonly string[]
  readonly mermaid?: string
  /** Where the page was written. */
  readonly html?: string
}

/** One run, whatever its file says of where its trace goes. */
export function runOne(story: StoryOptions, seed: number): Promise<SimulationResult> {
  const { onTrace: _onTrace, ...options } = story
  return simulate({ ...options, seed })
}

/** The report of a run that broke a law, not shrunk. */
export function reportOn(result: SimulationResult, story: StoryOptions): string {
  return failureReport(result, { options: Object.keys(story) })
}

/** Makes what is asked for. @throws UsageError where a page cannot be written */
export function picturesOf(result: SimulationResult, { html, mermaid, trace }: PicturesAsked): Pictures {
  if (html !== undefined) writePage(html, timelinePage(result))
  return {
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
