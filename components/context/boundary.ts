import { z } from 'zod'
import { type DataOf, defineComponent, defineLog, defineTag } from '../../src/world/component.ts'
import { BoundaryEntry } from '../../src/protocol/context.ts'

/** Set by each write of `Boundary`: what it covers may not be in the transcript yet. */
export const BoundaryMoved = defineTag('BoundaryMoved')

/** Texts that replace all messages before them. Only the newest is projected; the conversation itself stays whole. */
export const Boundary = defineLog('Boundary', BoundaryEntry, { marks: { tag: BoundaryMoved, when: () => true } })

/** What a side call that writes a boundary is for. Stands beside it. */
export const SummaryTask = defineComponent('SummaryTask', () =>
  BoundaryEntry()
    .pick({ by: true, focus: true, kind: true, note: true })
    .extend({
      headings: z.array(z.string()),
      /** Ids of programs that wait for it. */
      requests: z.array(z.string()),
    }),
)
export type SummaryTaskData = DataOf<() => typeof SummaryTask.schema>
