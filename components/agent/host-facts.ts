import { z } from 'zod'
import { defineComponent, defineLog } from '../../src/world/component.ts'
import { HostFactsData } from '../../src/protocol/host.ts'

/** What a world has to know of the Host that drives it, as of the last start. One entity a world, if there is anything to know. */
export const HostFacts = defineComponent('HostFacts', HostFactsData)

/** Ids of inputs that were posted under an id, newest last: one that comes again is dropped. One entity a world. */
export const SeenInputs = defineLog('SeenInputs', () => z.string())

/** So many are remembered at least. */
export const minSeenInputs = 1_024
