import type { SimulateOptions } from '../../sim/options.ts'
import { exportedBy } from '../exported-by.ts'
import { UsageError } from '../parsed-words.ts'
import type { SimArguments } from './sim-arguments.ts'

export type StoryOptions = Omit<SimulateOptions, 'seed'>

/** By name; a single story has an empty name. */
export type Stories = ReadonlyMap<string, StoryOptions>

const expected =
  'Expected as its default export: the options of simulate() without a seed, { world: (seed) => World, … }, or several such by name, { calm: { world, … }, stormy: { world, … } }'

/** @throws UsageError */
export async function loadStories(file: string): Promise<Stories> {
  const exported = await exportedBy(file)
  if (isStory(exported)) return new Map([['', withoutSeed(exported, file)]])
  const stories = isRecord(exported) ? Object.entries(exported) : []
  const wrong = stories.find(([, story]) => !isStory(story))
  if (stories.length === 0 || wrong !== undefined) {
    const what = wrong === undefined ? said(exported) : `'${wrong[0]}' has no function 'world'`
    throw new UsageError(`${file} exports no story. ${expected}; ${what}.`)
  }
  return new Map(stories.map(([name, story]) => [name, withoutSeed(story as StoryOptions, `${file}, ${name}`)]))
}

/** Selects stories; with `--seed` exactly one. @throws UsageError */
export function chosenStories(stories: Stories, { story: name, seed, file }: StoryChoice): Stories {
  const names = [...stories.keys()].join(', ')
  const story = name === undefined ? undefined : stories.get(name)
  if (name !== undefined && story === undefined) {
    throw new UsageError(`${file} has no story '${name}'; it has ${stories.has('') ? 'one, without a name' : names}.`)
  }
  const chosen = name === undefined || story === undefined ? stories : new Map([[name, story]])
  if (seed === undefined || chosen.size === 1) return chosen
  throw new UsageError(`${file} has several stories, ${names}: with --seed, name one with --story.`)
}

export type StoryChoice = Pick<SimArguments, 'file' | 'story' | 'seed'>

function isStory(value: unknown): value is StoryOptions {
  return isRecord(value) && typeof value['world'] === 'function'
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withoutSeed(story: StoryOptions, where: string): StoryOptions {
  if ('seed' in story) throw new UsageError(`${where} must have no seed: entia sim sets one for each run.`)
  return story
}

function said(exported: unknown): string {
  if (exported === undefined) return 'it has no default export'
  if (isRecord(exported) && Object.keys(exported).length === 0) return 'got an empty object'
  return Array.isArray(exported) ? 'got a list' : `got ${exported === null ? 'null' : typeof exported}`
}
