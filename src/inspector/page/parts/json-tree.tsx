import { useState } from 'preact/hooks'
import type { Json } from '../../../base/json.ts'

export interface JsonTreeProps {
  readonly value: Json
  /** How deep it is open at first. @default 1 */
  readonly open?: number
  /** Shows a number in this field as a link to an entity. */
  readonly refField?: string | undefined
  readonly onEntity?: (entity: number) => void
}

/** What of a long text or list is shown before more is asked for. */
const maxShownChars = 2_000
const shownItems = 100

/** A value as a tree that folds. Whatever it holds is text. */
export function JsonTree({ open = 1, value, ...links }: JsonTreeProps) {
  return <div class="json">{node(value, undefined, open, links)}</div>
}

type Links = Pick<JsonTreeProps, 'refField' | 'onEntity'>

function node(value: Json, name: string | undefined, open: number, links: Links) {
  const isBranch = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  if (isBranch) return <Branch key={name} name={name} value={value} open={open} links={links} />
  return (
    <div key={name} class="json-leaf">
      {name !== undefined && <span class="json-name">{name}</span>}
      <Leaf name={name} value={value} links={links} />
    </div>
  )
}

function Branch(props: {
  readonly name: string | undefined
  readonly value: object
  readonly open: number
  readonly links: Links
}) {
  const { links, name, open, value } = props
  const [isOpen, setOpen] = useState(open > 0)
  const [count, setCount] = useState(shownItems)
  const isList = Array.isArray(value)
  const keys = Object.keys(value)
  return (
    <details class="json-branch" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {name !== undefined && <span class="json-name">{name}</span>}
        <span class="json-brief">{isList ? `[${keys.length}]` : isOpen ? `{${keys.length}}` : brief(value)}</span>
      </summary>
      {isOpen && (
        <div class="json-items">
          {keys.slice(0, count).map((key) => node((value as Record<string, Json>)[key] as Json, key, open - 1, links))}
          {keys.length > count && (
            <button type="button" class="link" onClick={() => setCount(count + 10 * shownItems)}>
              {keys.length - count} more
            </button>
          )}
        </div>
      )}
    </details>
  )
}

function Leaf({
  links,
  name,
  value,
}: {
  readonly name: string | undefined
  readonly value: Json
  readonly links: Links
}) {
  const [isWhole, setWhole] = useState(false)
  if (typeof value === 'number' && name !== undefined && name === links.refField && links.onEntity !== undefined) {
    return (
      <button type="button" class="link" onClick={() => links.onEntity?.(value)}>
        #{value}
      </button>
    )
  }
  if (typeof value !== 'string')
    return <span class={`json-${value === null ? 'null' : typeof value}`}>{JSON.stringify(value)}</span>
  const isLong = value.length > maxShownChars
  return (
    <span class="json-string">
      {isLong && !isWhole ? value.slice(0, maxShownChars) : value}
      {isLong && !isWhole && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          … all {value.length.toLocaleString('en')} characters
        </button>
      )}
    </span>
  )
}

/** A value in one line. */
export function brief(value: unknown, maxChars = 80): string {
  const text =
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? part.slice(0, maxChars) : part)) ?? ''
  return text.length > maxChars ? `${text.slice(0, maxChars)}…` : text
}
