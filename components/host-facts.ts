import { z } from 'zod'
import { defineComponent } from '../src/world/component.ts'
import { RetryPolicy } from './retry-policy.ts'

/** What a world has to know of the Host that drives it, as of the last start. One entity a world, if there is anything to know. */
export const HostFacts = defineComponent('HostFacts', () =>
  z.strictObject({
    /** Retry policies of the providers that have one of their own; `false`: none. */
    retry: z.record(z.string(), z.union([RetryPolicy(), z.literal(false)])),
  }),
)
