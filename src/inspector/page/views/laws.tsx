import { useState } from 'preact/hooks'
import type { JsonObject } from '../../../base/json.ts'
import type { ActionReply, Problem, RunFacts, RunFault, RunViolation } from '../../reading/wire.ts'
import { address, go, hrefOf } from '../data/address.ts'
import { connection, problemOf, source, worlds } from '../data/state.ts'
import { durationText, numberText } from '../data/words.ts'
import { Badge } from '../parts/badge.tsx'
import { ComparisonChoice } from '../parts/comparison-choice.tsx'
import { brief } from '../parts/json-tree.tsx'
import { Empty } from '../parts/notices.tsx'
import { Table } from '../parts/table.tsx'
import type { View } from './view.ts'

/** What a simulation found, and two runs at their first difference. */
export const laws: View = {
  id: 'laws',
  title: 'Laws',
  key: '0',
  icon: 'M8 2.5v11M5 13.5h6M3 5h10M3 5 1.8 9.2h2.4zM13 5l-1.2 4.2h2.4z',
  component: Laws,
  count: () => (source.value?.run?.violation === undefined ? 0 : 1),
}

function Laws() {
  const given = source.value?.run
  const [shrunk, setShrunk] = useState<RunFacts | undefined>(undefined)
  const run = shrunk ?? given
  const isComparing = address.value.q === 'compare' || run === undefined
  return (
    <section class="view laws" aria-label="Laws">
      <div class="tools">
        <h1>Laws</h1>
        {run !== undefined && (
          <>
            <span class="muted">
              {run.name}, seed {run.seed}, {durationText(run.atMs)} of world time
            </span>
            <span class="space" />
            <div class="choice" role="group" aria-label="What is shown">
              <button type="button" aria-pressed={!isComparing} onClick={() => go({ q: undefined })}>
                This run
              </button>
              <button type="button" aria-pressed={isComparing} onClick={() => go({ q: 'compare' })}>
                Beside another
              </button>
            </div>
          </>
        )}
        {run === undefined && (
          <span class="muted">Laws are checked in simulations. Two runs can be compared here.</span>
        )}
      </div>
      {isComparing ? <ComparisonChoice /> : <Found run={run} given={given ?? run} onShrunk={setShrunk} />}
    </section>
  )
}

type Law = RunFacts['laws'][number]

function Found(props: {
  readonly run: RunFacts
  readonly given: RunFacts
  readonly onShrunk: (run: RunFacts) => void
}) {
  const { given, onShrunk, run } = props
  const { violation } = run
  const [selected, setSelected] = useState<string | undefined>(violation?.law)
  const sorted = run.laws.toSorted((one, other) => Number(other.broken ?? false) - Number(one.broken ?? false))
  return (
    <div class="halves">
      <Table<Law>
        label="Laws"
        rows={sorted}
        keyOf={({ name }) => name}
        selected={selected}
        onSelect={({ name }) => setSelected(name)}
        onOpen={({ broken }) => broken === true && violation !== undefined && go(placeOf(violation))}
        columns={[
          {
            id: 'name',
            title: 'Law',
            width: 'minmax(120px, 1fr)',
            cell: ({ name }) => <span class="clip">{name}</span>,
          },
          {
            id: 'held',
            title: 'Held',
            width: '132px',
            cell: ({ broken, looks }) => {
              if (broken === true) return <Badge state="failed">broke at {numberText(violation?.tick ?? 0)}</Badge>
              return looks === 0 ? <span class="muted">never looked</span> : <Badge state="done">held</Badge>
            },
          },
          { id: 'looks', title: 'Looked', width: '84px', isNumber: true, cell: ({ looks }) => numberText(looks) },
        ]}
        empty={<Empty title="No law was checked" />}
      />
      <aside class="side" aria-label="What the run found" tabIndex={0}>
        <article class="card">
          {violation === undefined ? (
            <p class="held-all">
              <Badge state="done">every law held</Badge>
            </p>
          ) : (
            <Violation violation={violation} />
          )}
          {run.shrunk !== undefined && <Shrunk shrunk={run.shrunk} of={given.faults.length} />}
          <Faults faults={run.faults} />
          {violation !== undefined && <ShrinkButton run={run} onShrunk={onShrunk} />}
          {run.test !== undefined && <Test text={run.test} />}
          {run.report !== undefined && (
            <details class="report">
              <summary>Report</summary>
              <pre tabIndex={0}>{run.report}</pre>
            </details>
          )}
        </article>
      </aside>
    </div>
  )
}

function placeOf({ tick, world }: RunViolation) {
  return { ...(worlds.value.has(world) && { world }), tick, view: 'world', entity: undefined, q: undefined }
}

function Violation({ violation }: { readonly violation: RunViolation }) {
  const { atMs, law, message, tick, world } = violation
  return (
    <section class="violation" aria-label="Broken law">
      <header>
        <h2>{law}</h2>
        <span class="space" />
        <a class="button" href={hrefOf(placeOf(violation))}>
          Go to tick {numberText(tick)}
        </a>
      </header>
      <p>{message}</p>
      <p class="muted">
        in {world}, after {durationText(atMs)}
      </p>
    </section>
  )
}

/** How many are listed at first. */
const shownFaults = 100

function Faults({ faults }: { readonly faults: readonly RunFault[] }) {
  const [count, setCount] = useState(shownFaults)
  return (
    <section aria-label="Faults">
      <h3 class="part">
        {faults.length === 0
          ? 'No fault struck'
          : faults.length === 1
            ? 'One fault struck'
            : `${numberText(faults.length)} faults struck`}
      </h3>
      <ol class="faults">
        {faults.slice(0, count).map(({ atMs, facts, name, tick, world }, index) => (
          <li key={index}>
            <span class="muted">{durationText(atMs)}</span>
            <b>{name}</b>
            <span class="muted clip" title={brief(facts, 400)}>
              {factsText(facts)}
            </span>
            {tick !== undefined && world !== undefined && worlds.value.has(world) ? (
              <a class="link" href={hrefOf({ world, tick, view: 'world', entity: undefined, q: undefined })}>
                tick {numberText(tick)}
              </a>
            ) : (
              <span />
            )}
          </li>
        ))}
      </ol>
      {faults.length > count && (
        <button type="button" class="link" onClick={() => setCount(count + 10 * shownFaults)}>
          {numberText(faults.length - count)} more
        </button>
      )}
    </section>
  )
}

function factsText(facts: JsonObject): string {
  return Object.entries(facts)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return name === 'at' ? text : `${name} ${text}`
    })
    .join(', ')
}

function Shrunk({ of, shrunk }: { readonly shrunk: NonNullable<RunFacts['shrunk']>; readonly of: number }) {
  const { faults, runs } = shrunk
  return (
    <section aria-label="Shrunk case">
      <h3 class="part">
        {faults.length === 0
          ? 'It breaks without any fault'
          : `${numberText(faults.length)} of ${numberText(of)} faults are enough`}
        {runs !== undefined && <span class="muted">, found in {numberText(runs)} runs</span>}
      </h3>
      <ol class="faults">
        {faults.map(({ what, ...facts }, index) => (
          <li key={index}>
            <span />
            <b>{typeof what === 'string' ? what : ''}</b>
            <span class="muted clip">{factsText(facts)}</span>
            <span />
          </li>
        ))}
      </ol>
    </section>
  )
}

function ShrinkButton({ onShrunk, run }: { readonly run: RunFacts; readonly onShrunk: (run: RunFacts) => void }) {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | undefined>(undefined)
  if (!run.canShrink) return null
  const shrink = async () => {
    setBusy(true)
    setProblem(undefined)
    try {
      const reply = await connection.post<ActionReply>('act', { do: 'shrink' })
      if (!reply.ok) setProblem(reply.problem)
      else if (reply.run !== undefined) onShrunk(reply.run)
    } catch (error) {
      setProblem(problemOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <div class="buttons">
      <button type="button" class="button" disabled={isBusy} onClick={() => void shrink()}>
        {isBusy ? 'Shrinking …' : 'Shrink'}
      </button>
      <span class="muted" role="status">
        {isBusy
          ? 'Runs the seed again and again, with fewer faults.'
          : 'Looks for the fewest faults that break the same law.'}
      </span>
      {problem !== undefined && (
        <span class="bad" role="alert">
          {problem.message}
        </span>
      )}
    </div>
  )
}

function Test({ text }: { readonly text: string }) {
  const [done, setDone] = useState<string | undefined>(undefined)
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setDone('copied'),
      () => setDone('the browser does not allow it: select it below'),
    )
  return (
    <section class="pasted" aria-label="Test">
      <header>
        <h3>A test that fails as this run did</h3>
        <span class="space" />
        <span class="muted" role="status">
          {done}
        </span>
        <button type="button" class="button" onClick={() => void copy()}>
          Copy test
        </button>
      </header>
      <pre tabIndex={0} aria-label="Source of the test">
        {text}
      </pre>
    </section>
  )
}
