import { useEffect, useMemo, useState } from 'preact/hooks'
import { spentOf, type Spent } from '../../reading/spent.ts'
import { read } from '../../reading/raw-view.ts'
import type { SpendingReply } from '../../reading/wire.ts'
import { go } from '../data/address.ts'
import { callsNow, wantCalls } from '../data/calls.ts'
import { ceilingsOf, type Forecast, forecastOf, type MoneyNode, moneyTree, spentOverTime } from '../data/money.ts'
import { connection, type Moment, moment, summaries, wantSummary } from '../data/state.ts'
import { durationText, moneyText, numberText, shortNumberText } from '../data/words.ts'
import { AgentPicker, agentOf } from '../parts/agent-picker.tsx'
import { Badge } from '../parts/badge.tsx'
import { Meter } from '../parts/meter.tsx'
import { Empty, Loading } from '../parts/notices.tsx'
import { type Column, Table } from '../parts/table.tsx'
import type { View } from './view.ts'

/** Who may spend how much, and has. */
export const money: View = {
  id: 'money',
  title: 'Money',
  key: '8',
  icon: 'M8 2v12M11 4.6C10.4 3.9 9.3 3.5 8 3.5c-1.7 0-3 .8-3 2.1C5 8.6 11 7.2 11 10.3c0 1.4-1.3 2.2-3 2.2-1.4 0-2.6-.5-3.2-1.3',
  component: Money,
  isOfWorld: true,
}

function Money() {
  const shown = moment.value
  const agent = shown && agentOf(shown.world)
  useEffect(() => shown && wantCalls(shown), [shown])
  // Of other worlds only what they are now is known.
  const isNow = shown?.tick === shown?.newest
  const known = isNow ? summaries.value : nothingKnown
  const nodes = useMemo(
    () => (shown === undefined || agent === undefined ? [] : moneyTree(shown.world, agent, known)),
    [shown, agent, known],
  )
  if (shown === undefined) return <Loading what="Reading the world" />
  if (agent === undefined)
    return (
      <Empty title="No agent">This world has no agent at this tick. Go to a later one, or choose another world.</Empty>
    )
  return (
    <section class="view money" aria-label="Money">
      <div class="tools">
        <h1>Money</h1>
        <AgentPicker world={shown.world} agent={agent} />
      </div>
      <div class="money-body" tabIndex={0} role="region" aria-label="Spending">
        <Figures shown={shown} agent={agent} />
        <Spending shown={shown} agent={agent} />
        <Models shown={shown} agent={agent} />
        <section class="money-tree" aria-label="Grants" style={{ '--rows': Math.min(nodes.length, 14) }}>
          <h2>Grants of the tree</h2>
          {!isNow && <p class="muted">What sessions launch themselves is shown at the newest tick.</p>}
          <Table
            label="Grants of the tree"
            rows={nodes}
            keyOf={({ key }) => key}
            onOpen={({ world }) => world !== undefined && go({ world, tick: 'live', entity: undefined })}
            levelOf={({ level }) => level}
            columns={treeColumns}
          />
        </section>
      </div>
    </section>
  )
}

const nothingKnown: typeof summaries.value = new Map()

const treeColumns: readonly Column<MoneyNode>[] = [
  { id: 'name', title: 'Node', width: 'minmax(120px, 2fr)', cell: (node) => <NodeName node={node} /> },
  { id: 'state', title: 'State', width: '96px', room: 'some', cell: ({ state }) => <Badge state={state} /> },
  { id: 'granted', title: 'Granted', width: '74px', isNumber: true, cell: ({ granted }) => moneyText(granted) },
  {
    id: 'reserved',
    title: 'Reserved',
    width: '74px',
    isNumber: true,
    room: 'some',
    cell: ({ reserved }) => moneyText(reserved),
  },
  { id: 'spent', title: 'Spent', width: '74px', isNumber: true, cell: ({ spent }) => moneyText(spent) },
  {
    id: 'back',
    title: 'Given back',
    width: '84px',
    isNumber: true,
    room: 'some',
    cell: ({ givenBack }) => moneyText(givenBack),
  },
  { id: 'calls', title: 'Calls', width: '56px', isNumber: true, room: 'much', cell: ({ calls }) => calls ?? '–' },
  {
    id: 'tokens',
    title: 'Tokens',
    width: '68px',
    isNumber: true,
    room: 'much',
    cell: ({ tokens }) => shortNumberText(tokens),
  },
]

function NodeName({ node: { detail, level, name, world } }: { readonly node: MoneyNode }) {
  // What sessions have launched is known to their own worlds.
  if (world !== undefined && summaries.value.get(world) === undefined) wantSummary(world)
  return (
    <span class="name" style={{ '--level': level }} title={detail}>
      <span class="clip">{name}</span>
      <span class="muted clip">{detail}</span>
    </span>
  )
}

interface PartProps {
  readonly shown: Moment
  readonly agent: number
}

function Figures({ agent, shown }: PartProps) {
  const { world } = shown
  const ledger = read(world, agent, 'Ledger')
  const rows = Object.values(ledger?.models ?? {})
  const { nanoUsd, turnNanoUsd, turnUnknown, unknown, unpriced } = spentOf(world, agent)
  const estimated = rows.reduce((sum, row) => sum + (row.estimated ?? 0), 0)
  const reserved = useReserved(shown, agent)
  const policy = read(world, agent, 'Ceilings')?.onUnpriced
  return (
    <div class="money-figures">
      <Figure title="Spent" value={moneyText(nanoUsd)}>
        {unknown > 0 ? 'at least: calls of unknown cost are not in it' : 'in the life of this agent'}
      </Figure>
      <Figure
        title={world.value(agent, 'Turn') === undefined ? 'Last turn' : 'This turn'}
        value={moneyText(turnNanoUsd)}
      >
        {turnUnknown > 0 ? 'not exact: the cost of a call is unknown' : 'sessions included'}
      </Figure>
      <Figure title="Reserved" value={moneyText(reserved)}>
        for calls and sessions in flight
      </Figure>
      <Figure title="Unpriced calls" value={numberText(unpriced)} state={unpriced > 0 ? 'approval' : undefined}>
        {unpricedWords({ estimated, policy, unknown, unpriced })}
      </Figure>
      <ForecastFigure forecast={forecastOf(world, agent)} hasTurn={world.value(agent, 'Turn') !== undefined} />
      {ceilingsOf(world, agent).map(({ bound, isReached, limit, spent }) => (
        <div
          key={bound}
          class="figure is-ceiling"
          data-state={isReached ? 'failed' : spent / limit > 0.9 ? 'approval' : 'done'}
        >
          <span class="figure-title">{bound === 'turn' ? 'Turn ceiling' : 'Session ceiling'}</span>
          <strong>{moneyText(limit)}</strong>
          <Meter label={`Spent of the ceiling of the ${bound}`} value={Math.round(spent)} max={Math.round(limit)} />
          <span class="muted">
            {isReached ? 'reached' : `${moneyText(spent)} spent, ${Math.round((100 * spent) / limit)} %`}
          </span>
        </div>
      ))}
    </div>
  )
}

function unpricedWords({
  estimated,
  policy,
  unknown,
  unpriced,
}: Pick<Spent, 'unknown' | 'unpriced'> & { readonly estimated: number; readonly policy: string | undefined }): string {
  if (unpriced > 0) return policy === 'refuse' ? 'further ones are refused' : 'in no sum'
  if (unknown > 0) return `${numberText(unknown)} of unknown cost`
  return estimated > 0 ? `${numberText(estimated)} with estimated tokens` : 'every call has a price'
}

function Figure(props: {
  readonly title: string
  readonly value: string
  readonly children: string
  readonly state?: string | undefined
}) {
  return (
    <div class="figure" data-state={props.state}>
      <span class="figure-title">{props.title}</span>
      <strong>{props.value}</strong>
      <span class="muted">{props.children}</span>
    </div>
  )
}

function ForecastFigure({ forecast, hasTurn }: { readonly forecast: Forecast | undefined; readonly hasTurn: boolean }) {
  if (forecast === undefined)
    return (
      <Figure title="Forecast" value="–">
        {hasTurn ? 'too early in the turn to tell' : 'no turn is under way'}
      </Figure>
    )
  const [first] = forecast.reaches.toSorted((one, other) => one.inMs - other.inMs)
  return (
    <Figure title="Forecast" value={`${moneyText(forecast.perHour)} an hour`}>
      {first === undefined
        ? `at the pace of the last ${durationText(forecast.overMs)}`
        : `reaches the ${first.bound} ceiling in ${durationText(first.inMs)}`}
    </Figure>
  )
}

const reservedEachMs = 500

/** Calls in flight are counted by the server. */
function useReserved({ tick, world }: Moment, agent: number): number | undefined {
  const [reserved, setReserved] = useState<number | undefined>(undefined)
  const { name } = world
  useEffect(() => {
    let isOver = false
    const timer = setTimeout(
      () => {
        connection.get<SpendingReply>('spending', { world: name, tick, agent }).then(
          (reply) => !isOver && setReserved(reply.reservedNanoUsd),
          () => !isOver && setReserved(undefined),
        )
      },
      reserved === undefined ? 0 : reservedEachMs,
    )
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [name, tick, agent])
  return reserved
}

const chart = { width: 1_000, height: 120 } as const

/** What calls have cost so far, over world time. */
function Spending({ agent, shown }: PartProps) {
  const calls = callsNow.value?.calls.filter((call) => call.agent === agent) ?? []
  const points = useMemo(() => spentOverTime(calls), [calls.length, calls.at(-1)?.state])
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || points.length < 2) return null
  const endMs = Math.max(shown.world.nowMs, last[0])
  const x = (atMs: number) => (chart.width * (atMs - first[0])) / Math.max(1, endMs - first[0])
  const y = (nanoUsd: number) => chart.height - (chart.height * nanoUsd) / Math.max(1, last[1])
  const steps = points.map(([atMs, nanoUsd]) => `H${x(atMs).toFixed(1)}V${y(nanoUsd).toFixed(1)}`).join('')
  const line = `M0,${chart.height}${steps}H${chart.width}`
  return (
    <figure class="spent">
      <figcaption>
        <h2>Own calls over time</h2>
        <span class="muted">
          {moneyText(last[1])} in {durationText(endMs - first[0])}, {numberText(points.length)} calls
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${chart.width} ${chart.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${moneyText(last[1])} after ${points.length} calls`}
      >
        <path class="spent-area" d={`${line}V${chart.height}Z`} />
        <path class="spent-line" d={line} vector-effect="non-scaling-stroke" />
      </svg>
    </figure>
  )
}

function Models({ agent, shown: { world } }: PartProps) {
  const ledger = read(world, agent, 'Ledger')
  const usage = read(world, agent, 'Usage')
  const own = read(world, agent, 'Llm')?.model ?? ''
  const rows =
    ledger === undefined ? (usage === undefined ? [] : [[own, usage] as const]) : Object.entries(ledger.models)
  if (rows.length === 0) return null
  return (
    <section class="money-models" aria-label="By model">
      <h2>By model</h2>
      <div class="money-scroll" tabIndex={0} role="region" aria-label="By model, rows">
        <table class="figures-table">
          <thead>
            <tr>
              {['Model', 'Calls', 'Input', 'Cache read', 'Cache write', 'Output', 'Unpriced', 'Cost'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([model, row]) => (
              <tr key={model}>
                <th scope="row">
                  {model} {model === own && <span class="chip">its own</span>}
                </th>
                <td>{numberText(row.calls)}</td>
                <td>{shortNumberText(row.input)}</td>
                <td>{shortNumberText(row.cacheRead)}</td>
                <td>{shortNumberText(row.cacheWrite)}</td>
                <td>{shortNumberText(row.output)}</td>
                <td>{unpricedIn(row)}</td>
                <td>{moneyText(row.costNanoUsd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function unpricedIn(row: object): string {
  return 'unpriced' in row && typeof row.unpriced === 'number' ? numberText(row.unpriced) : '–'
}
