import { useMemo, useState } from 'preact/hooks'
import { address, go } from '../data/address.ts'
import { moment, source, sourceDate, streaming, summaries, wantSummary, worlds } from '../data/state.ts'
import { recordOf } from '../data/session-records.ts'
import { type TreeRow, treeRows } from '../data/tree.ts'
import { agoText, durationText, moneyText, numberText, shortNumberText } from '../data/words.ts'
import { Badge, stateName } from '../parts/badge.tsx'
import { Empty } from '../parts/notices.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { type SessionRecord, summaryOf, type WorldSummary } from '../../reading/summaries.ts'
import { isLeftBehind } from '../../reading/left-behind.ts'
import type { WorldEntry } from '../../reading/wire.ts'
import type { View } from './view.ts'

/** The tree of worlds, and what each does now. */
export const sessions: View = {
  id: 'sessions',
  title: 'Sessions',
  key: '1',
  icon: 'M2.5 3.5h5M5 3.5v9h3M5 8h3M10 8h3.5M10 12.5h3.5',
  component: Sessions,
}

interface Row extends TreeRow {
  readonly summary: WorldSummary | undefined
  /** As the world that launched it knows it. */
  readonly record: SessionRecord | undefined
  /** It is shown as of an earlier tick, when its record may not have been what it is now. */
  readonly isPast: boolean
}

function Sessions() {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const [text, setText] = useState('')
  const all = worlds.value
  const known = summaries.value
  const shown = moment.value
  // The world that is shown is here already, as of the tick that is shown; the others are as of their newest.
  const own = useMemo(() => shown && summaryOf(shown.world), [shown])
  const tree = useMemo(() => {
    const parentOf = ({ name, parent, root }: WorldEntry) => parent ?? summaryIn(known, name)?.parent ?? root
    return treeRows(all, text === '' ? folded : new Set(), parentOf)
  }, [all, folded, known, text])
  const rows = useMemo(() => {
    const wanted = text.toLowerCase()
    return tree.flatMap((row): Row[] => {
      const { name } = row.entry
      const summary = name === shown?.world.name ? own : summaryIn(known, name)
      const record = recordOf(name)
      const isPast = name === shown?.world.name && shown.tick < shown.newest
      const found = { ...row, summary, record, isPast }
      return isFound(found, wanted) ? [found] : []
    })
  }, [known, own, shown, text, tree])
  const fold = (row: Row, isOpen: boolean) => {
    const now = new Set(folded)
    now[isOpen ? 'delete' : 'add'](row.entry.name)
    setFolded(now)
  }
  return (
    <section class="view" aria-label="Sessions">
      <div class="tools">
        <h1>Sessions</h1>
        <span class="muted">{all.size === 1 ? 'one world' : `${numberText(all.size)} worlds`}</span>
        <Counts rows={rows} />
        <span class="space" />
        <input
          data-search
          type="search"
          placeholder="Find a session, agent or model"
          aria-label="Find a session"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </div>
      <Table
        label="Worlds"
        rows={rows}
        keyOf={({ entry }) => entry.name}
        selected={address.value.world}
        onSelect={({ entry }) =>
          entry.name !== address.value.world && go({ world: entry.name, tick: 'live', entity: undefined })
        }
        onOpen={({ entry }) => go({ world: entry.name, view: 'conversation' })}
        onFold={fold}
        levelOf={({ level }) => level}
        rowState={stateOf}
        columns={columns(fold)}
        empty={
          <Empty title={text === '' ? 'No world yet' : 'Nothing found'}>
            {text === ''
              ? 'A world appears here with its first tick.'
              : 'No session, agent or model has this in its name.'}
          </Empty>
        }
      />
    </section>
  )
}

function columns(fold: (row: Row, isOpen: boolean) => void): readonly Column<Row>[] {
  return [
    { id: 'name', title: 'World', width: 'minmax(150px, 5fr)', cell: (row) => <Name row={row} fold={fold} /> },
    { id: 'state', title: 'State', width: '96px', cell: (row) => <Badge state={stateOf(row) ?? 'unknown'} /> },
    {
      id: 'doing',
      title: 'What it does',
      width: 'minmax(110px, 3fr)',
      room: 'some',
      cell: (row) => <Doing row={row} />,
    },
    { id: 'since', title: 'Since', width: '72px', isNumber: true, room: 'some', cell: sinceOf },
    { id: 'moved', title: 'Moved', width: '72px', isNumber: true, room: 'much', cell: movedOf },
    { id: 'model', title: 'Model', width: 'minmax(64px, 1fr)', room: 'much', cell: modelOf },
    {
      id: 'steps',
      title: 'Steps',
      width: '48px',
      isNumber: true,
      room: 'much',
      cell: ({ record, summary }) => summary?.agents[0]?.steps ?? record?.calls ?? '–',
    },
    {
      id: 'tokens',
      title: 'Tokens',
      width: '60px',
      isNumber: true,
      room: 'some',
      cell: (row) => shortNumberText(tokensOf(row)),
    },
    { id: 'cost', title: 'Cost', width: '60px', isNumber: true, cell: (row) => moneyText(costOf(row)) },
  ]
}

function Name({ fold, row }: { readonly row: Row; readonly fold: (row: Row, isOpen: boolean) => void }) {
  const { children, entry, isFolded, level, record, summary } = row
  // What is seen is asked for, once: what moves later is read again.
  if (summary === undefined && !summaries.value.has(entry.name) && entry.problem === undefined) wantSummary(entry.name)
  return (
    <span class="name" style={{ '--level': level }} title={record?.prompt ?? entry.name}>
      {children > 0 ? (
        <button
          type="button"
          class="fold"
          tabIndex={-1}
          aria-label={isFolded ? 'Open' : 'Close'}
          aria-expanded={!isFolded}
          onClick={(event) => {
            event.stopPropagation()
            fold(row, isFolded)
          }}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="m6 4 4 4-4 4" />
          </svg>
        </button>
      ) : (
        <span class="fold" />
      )}
      <span class="clip">{record?.category ?? entry.name}</span>
      {record !== undefined && <span class="muted clip">{record.prompt}</span>}
    </span>
  )
}

function Counts({ rows }: { readonly rows: readonly Row[] }) {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const state = stateOf(row)
    // Of rows that were never seen nothing is known: a count of the others would say nothing.
    if (state === undefined) return null
    counts.set(state, (counts.get(state) ?? 0) + 1)
  }
  return (
    <span class="counts">
      {[...counts].map(([state, count]) => (
        <span key={state} class="count" data-state={state}>
          <i aria-hidden="true" />
          {numberText(count)} {stateName(state)}
        </span>
      ))}
    </span>
  )
}

function summaryIn(known: typeof summaries.value, name: string): WorldSummary | undefined {
  const found = known.get(name)
  return found === undefined || 'problem' in found ? undefined : found
}

function isFound({ entry, record, summary }: Row, wanted: string): boolean {
  if (wanted === '') return true
  const texts = [
    entry.name,
    record?.category,
    record?.prompt,
    record?.model,
    ...(summary?.agents.map(({ model }) => model) ?? []),
  ]
  return texts.some((text) => text?.toLowerCase().includes(wanted) === true)
}

/** Of a session that is over its record says how; of one that goes on, its own world says more. */
function stateOf({ entry, isPast, record, summary }: Row): string | undefined {
  if (entry.problem !== undefined) return 'failed'
  if (!isPast && record !== undefined && record.status !== 'running') return record.status
  if (isLeft(entry)) return 'unknown'
  const states = summary?.agents.map(({ state }) => state) ?? []
  const worked = states.find((state) => state !== 'idle' && state !== 'done') ?? states[0] ?? record?.status
  return worked ?? (summary === undefined ? undefined : 'no agent')
}

function Doing({ row: { entry, isPast, record, summary } }: { readonly row: Row }) {
  if (entry.problem !== undefined) return <span class="clip">{entry.problem.message}</span>
  const agent = summary?.agents.find(({ state }) => state !== 'idle' && state !== 'done') ?? summary?.agents[0]
  const words = agent?.state === 'model' ? wordsOf(entry.name) : undefined
  if (words !== undefined) return <span class="clip streamed">{words}</span>
  const count = summary?.agents.length ?? 0
  const more = count > 1 ? ` · ${numberText(count)} agents` : ''
  const left = isLeft(entry) && agent !== undefined ? `unknown since the program ended: ${agent.doing}` : undefined
  return (
    <span class="clip">
      {(isPast ? undefined : record?.error) ?? left ?? (agent === undefined ? '' : `${agent.doing}${more}`)}
    </span>
  )
}

function isLeft(entry: WorldEntry): boolean {
  return isLeftBehind(entry, worlds.value.get(entry.root ?? ''), source.value?.kind ?? 'run')
}

const maxWords = 60

/** The newest words that the model of a world has streamed. */
function wordsOf(world: string): string | undefined {
  let newest: string | undefined
  for (const [key, { text, thinking }] of streaming.value)
    if (key.slice(0, key.lastIndexOf('/')) === world) newest = text === '' ? thinking : text
  if (newest === undefined || newest === '') return undefined
  return newest.length > maxWords ? `…${newest.slice(-maxWords)}` : newest
}

function sinceOf({ summary }: Row) {
  // Of what is over its world's time says nothing more.
  const since = summary?.agents.find(({ sinceMs, state }) => sinceMs !== undefined && state !== 'done')?.sinceMs
  return since === undefined || summary === undefined ? '–' : durationText(Math.max(0, summary.nowMs - since))
}

function movedOf({ summary }: Row) {
  // A world that was never driven by a clock of this time has no date.
  if (summary === undefined || summary.dateMs < 1e11) return '–'
  return agoText(Math.max(0, sourceDate() - summary.dateMs))
}

function modelOf({ record, summary }: Row) {
  const model = summary?.agents[0]?.model ?? record?.model ?? ''
  return (
    <span class="clip" title={model}>
      {model.slice(model.indexOf('/') + 1)}
    </span>
  )
}

function tokensOf({ record, summary }: Row): number | undefined {
  const all = summary === undefined ? [record?.tokens ?? {}] : summary.agents.map(({ tokens }) => tokens)
  const counts = all.flatMap(({ input, output }) => [input, output]).filter((count) => count !== undefined)
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0)
}

function costOf({ record, summary }: Row): number | undefined {
  const costs = summary?.agents.map(({ costNanoUsd }) => costNanoUsd).filter((cost) => cost !== undefined) ?? []
  return costs.length === 0 ? record?.costNanoUsd : costs.reduce((sum, cost) => sum + cost, 0)
}
