import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { address, go } from './data/address.ts'
import { worlds } from './data/state.ts'
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
        <span>{world ?? 'No world'}</span>
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
                cell: ({ entry, level }) => <span style={{ paddingLeft: `${level * 14}px` }}>{entry.name}</span>,
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

function found(rows: readonly TreeRow[], text: string): readonly TreeRow[] {
  const wanted = text.trim().toLowerCase()
  return wanted === '' ? rows : rows.filter(({ entry }) => entry.name.toLowerCase().includes(wanted))
}
