import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** What is open stays so while it scrolls out of sight and back. */
const opened = new Map<string, boolean>()
const maxKept = 5_000

/** Something that is closed at first, and made when it is opened. */
export function Fold(props: {
  readonly id: string
  readonly summary: ComponentChildren
  readonly children: () => ComponentChildren
  /** At the end of its line; it may hold links, which a summary may not. */
  readonly beside?: ComponentChildren
  readonly class?: string
  readonly state?: string | undefined
  /** @default false */
  readonly isOpen?: boolean
}) {
  const { beside, children, id, isOpen = false, state, summary } = props
  const [is, set] = useState(opened.get(id) ?? isOpen)
  const box = (
    <details
      class={`fold-box ${props.class ?? ''}`}
      data-state={state}
      open={is}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open === is) return
        opened.set(id, currentTarget.open)
        for (const [first] of opened) if (opened.size > maxKept) opened.delete(first)
        set(currentTarget.open)
      }}
    >
      <summary>
        <svg class="chevron" viewBox="0 0 16 16" aria-hidden="true">
          <path d="m6 4 4 4-4 4" />
        </svg>
        {summary}
      </summary>
      {is && <div class="fold-content">{children()}</div>}
    </details>
  )
  if (beside === undefined) return box
  return (
    <div class="fold-wrap">
      {box}
      <span class="fold-beside">{beside}</span>
    </div>
  )
}
