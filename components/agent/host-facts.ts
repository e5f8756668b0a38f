import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { RetryPolicy } from '../../src/protocol/retry-policy.ts'

/** What a world has to know of the Host that drives it, as of the last start. One entity a world, if there is anything to know. */
export const HostFacts = defineComponent('HostFacts', () =>
  z.strictObject({
    /** Hashes of declarations that agents keep from earlier Hosts, by tool. */
    keptTools: z.record(z.string(), z.array(z.number())).optional(),
    /** Sessions' worlds are kept in a store, so that one can go on from where it ended. */
    keepsSessions: z.literal(true).optional(),
    /** Retry policies of the providers that have one of their own; `false`: none. */
    retry: z.record(z.string(), z.union([RetryPolicy(), z.literal(false)])),
    /** Hashes of what providers add to requests of their own accord, by provider. */
    settings: z.record(z.string(), z.number()).optional(),
    /** The catalogue of skills: by name, the tools that come with each, with hashes of their declarations. */
    skills: z.record(z.string(), z.record(z.string(), z.number())).optional(),
    /** Hashes of the tools' declarations, by name. */
    tools: z.record(z.string(), z.number()).optional(),
  }),
)
export type HostFactsData = DataOf<() => typeof HostFacts.schema>
