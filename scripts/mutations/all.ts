import { engineMutations } from './engine.ts'
import { fleetMutations } from './fleet.ts'
import { linesAndPagesMutations } from './lines-and-pages.ts'
import type { Mutation } from './mutation.ts'
import { systemMutations } from './systems.ts'

/** Every bug that a sweep of the stories, or a test, has to find. */
export const mutations: readonly Mutation[] = [
  ...systemMutations,
  ...engineMutations,
  ...linesAndPagesMutations,
  ...fleetMutations,
]
