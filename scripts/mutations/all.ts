import { engineMutations } from './engine.ts'
import { fleetMutations } from './fleet.ts'
import type { Mutation } from './mutation.ts'
import { systemMutations } from './systems.ts'

/** Every bug that a sweep of the stories has to find. */
export const mutations: readonly Mutation[] = [...systemMutations, ...engineMutations, ...fleetMutations]
