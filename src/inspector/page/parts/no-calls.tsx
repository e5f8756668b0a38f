import type { KnownCalls } from '../data/calls.ts'
import { numberText } from '../data/words.ts'
import { Empty } from './notices.tsx'

/** Why there is no call to show: none was made, or those that were are not kept. */
export function NoCalls({ known, what }: { readonly known: KnownCalls | undefined; readonly what: string }) {
  if (known === undefined || known.from <= 1) return <Empty title="No call yet">{what}</Empty>
  return (
    <Empty title={`No call since tick ${numberText(known.from)}`}>
      {known.isWhole
        ? 'What was before that is not kept. A store with record: true keeps all ticks.'
        : 'Earlier ones have not been read.'}
    </Empty>
  )
}
