import { z } from 'zod'
import { type DataOf, defineComponent, defineLog, defineTag } from '../../src/world/component.ts'
import { BoundaryEntry } from '../../src/protocol/context.ts'

/** The newest boundary may be another one: what it covers was not brought to the agent's transcript yet. */
export const BoundaryMoved = defineTag('BoundaryMoved')

/**
 * Places in a conversation before which a text stands for all that was said. Only the newest is projected; taken away, it
 * leaves the projection as it was before, since the conversation stays whole.
 */
export const Boundary = defineLog('Boundary', BoundaryEntry, { marks: { tag: BoundaryMoved, when: () => true } })

/** What becomes of a side call that writes a boundary. Stands beside it. */
export const SummaryTask = defineComponent('SummaryTask', () =>
  BoundaryEntry()
    .pick({ by: true, focus: true, kind: true, note: true })
    .extend({
      /** Asked for in the text. */
      headings: z.array(z.string()),
      /** Of programs that wait for it. */
      requests: z.array(z.string()),
    }),
)
export type SummaryTaskData = DataOf<() => typeof SummaryTask.schema>
