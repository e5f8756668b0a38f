import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { address, go } from './data/address.ts'
import { recordOf, wantRecord } from './data/session-records.ts'
import { summaries, wantSummary, worlds } from './data/state.ts'
import { treeRows, type TreeRow } from './data/tree.ts'
import { Table } from './parts/table.tsx'

/** Which world is shown: a button that opens the tree of all. */
export function WorldPicker() {
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('')
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const { world } = address.value
  const all = worlds.value
  const chosen = all.get(world ?? '')
  const session = world === undefined ? undefined : recordOf(world)
  useEffect(() => {
    if (chosen !== undefined && session === undefined) wantRecord(chosen)
  }, [chosen, session, summaries.value])
  const rows = useMemo(() => (isOpen ? found(treeRows(all, new Set()), text) : []), [all, isOpen, text])
  useEffect(() => {
    if (!isOpen) return undefined
    const leave = (event: Event) => {
      if (event.target instanceof Node && box.current?.contains(event.target) !== true) setOpen(false)
    }
    addEventListener('pointerdown', leave)
    return () => removeEventListener('pointerdown', leave)
  }, [isOpen])
  const choose = ({ entry }: TreeRow) => {
    go({ world: entry.name, tick: 'live', entity: undefined })
    close()
  }
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  return (
    <div class="picker" ref={box}>
      <button
        ref={button}
        type="button"
        class="picked"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <span title={world}>{session?.category ?? world ?? 'No world'}</span>
        {session !== undefined && <span class="muted">{session.prompt}</span>}
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="m4.5 6.5 3.5 3.5 3.5-3.5" />
        </svg>
      </button>
      {isOpen && (
        <div
          class="popover"
          role="dialog"
          aria-label="Worlds"
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            event.stopPropagation()
            close()
          }}
        >
          <input
            ref={(element) => element?.focus()}
            type="search"
            placeholder={`Find among ${all.size} worlds`}
            aria-label="Find a world"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            onKeyDown={({ key }) => {
              if (key === 'Enter' && rows[0] !== undefined) choose(rows[0])
            }}
          />
          <Table
            label="All worlds"
            rows={rows}
            keyOf={({ entry }) => entry.name}
            selected={world}
            onSelect={choose}
            onOpen={choose}
            levelOf={({ level }) => level}
            columns={[
              {
                id: 'name',
                title: 'World',
                width: 'minmax(0, 1fr)',
                cell: (row) => <Name row={row} />,
              },
              { id: 'tick', title: 'Tick', width: '64px', isNumber: true, cell: ({ entry }) => entry.tick ?? '–' },
            ]}
            empty="No world has this in its name."
          />
        </div>
      )}
    </div>
  )
}

/** What is seen is asked for, so that a session is known by what it does. */
function Name({ row: { entry, level } }: { readonly row: TreeRow }) {
  const session = recordOf(entry.name)
  const { name, root } = entry
  useEffect(() => {
    if (root === undefined) {
      if (!summaries.value.has(name)) wantSummary(name)
    } else if (session === undefined) wantRecord(entry)
  }, [entry, session, summaries.value])
  return (
    <span class="name" style={{ '--level': level }} title={name}>
      <span class="clip">{session?.category ?? name}</span>
      {session !== undefined && <span class="muted clip">{session.prompt}</span>}
    </span>
  )
}

function found(rows: readonly TreeRow[], text: string): readonly TreeRow[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return rows
  return rows.filter(({ entry: { name } }) => {
    const { category = '', prompt = '' } = recordOf(name) ?? {}
    return [name, category, prompt].some((one) => one.toLowerCase().includes(wanted))
  })
}
