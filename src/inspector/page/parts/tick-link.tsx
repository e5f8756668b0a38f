import { go, hrefOf } from '../data/address.ts'
import { numberText } from '../data/words.ts'

/** Goes to a tick. */
export function TickLink({ tick }: { readonly tick: number }) {
  return (
    <a
      class="tick-link"
      href={hrefOf({ tick })}
      title={`Go to tick ${tick}`}
      onClick={(event) => {
        event.preventDefault()
        event.stopPropagation()
        go({ tick })
      }}
    >
      tick {numberText(tick)}
    </a>
  )
}
