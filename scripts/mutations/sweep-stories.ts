import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { simulate, type SimulateOptions } from 'entia/sim'
import { everyFleetFault, toldByFleets } from '../../test/stories/told/every-fault.ts'

/** What a sweep says to the process that has started it. */
export type SweepNews =
  | { readonly type: 'loaded'; readonly stories: readonly string[] }
  /** All stories have been told under this seed. */
  | { readonly type: 'seed'; readonly seed: number }
  | {
      readonly type: 'broken'
      readonly story: string
      readonly seed: number
      readonly law: string
      readonly message: string
    }
  | { readonly type: 'kept' }

/**
 * Tells all stories of `test/stories` below the working folder under seed after seed, until a law is broken. Started by
 * `plant-mutations.ts` in a copy of the sources.
 *
 *     sweep-stories.ts FIRST LAST PROCESSES [STORY]
 */
/** A busy machine is no bug. */
const bounds = { maxStallMs: 30_000 }

const [first = '1', last = first, processes = '1', only] = process.argv.slice(2)
const stories = await loadStories(only)
if (stories.size === 0) throw new Error(`There is no story ${only} in test/stories/told.`)
await tell({ type: 'loaded', stories: [...stories.keys()] })
await tell((await firstBroken(Number(first), Number(last))) ?? { type: 'kept' })
process.exit()

async function firstBroken(from: number, to: number): Promise<SweepNews | undefined> {
  for (let seed = from; seed <= to; seed++) {
    for (const [story, options] of stories) {
      const { violation } = await simulate({ ...options, bounds, seed, thorough: true, onTrace: () => undefined })
      if (violation !== undefined)
        return { type: 'broken', story, seed, law: violation.law, message: violation.message }
    }
    await tell({ type: 'seed', seed })
  }
  return undefined
}

async function loadStories(name: string | undefined): Promise<ReadonlyMap<string, SimulateOptions>> {
  const folder = join(process.cwd(), 'test/stories/told')
  const found = new Map<string, SimulateOptions>()
  for (const file of readdirSync(folder).toSorted()) {
    const story = file.replace(/\.ts$/, '')
    const { default: told } = (await import(pathToFileURL(join(folder, file)).href)) as { default?: SimulateOptions }
    if (typeof told?.world !== 'function' || (name !== undefined && name !== story)) continue
    if (processes === '1') found.set(story, told)
    else if (toldByFleets.has(story))
      found.set(story, { ...told, processes: Number(processes), faults: everyFleetFault })
  }
  return found
}

async function tell(news: SweepNews): Promise<void> {
  await new Promise<void>((resolve) => {
    if (process.send === undefined) console.log(JSON.stringify(news))
    if (process.send === undefined || !process.send(news, () => resolve())) resolve()
  })
}
