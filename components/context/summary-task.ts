import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { BoundaryEntry } from './boundary.ts'

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
