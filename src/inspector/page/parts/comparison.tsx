import { useEffect, useState } from 'preact/hooks'
import type { Json } from '../../../base/json.ts'
import { type Comparison as Outcome, type Difference, firstDifference } from '../../reading/compare.ts'
import { hrefOf } from '../data/address.ts'
import { type ComparedRun, firstTickOf, openRun, type RunPlace } from '../data/compared-run.ts'
import { problemOf } from '../data/state.ts'
import { numberText } from '../data/words.ts'
import { JsonTree } from './json-tree.tsx'
import { Loading } from './notices.tsx'

export interface ComparisonProps {
  readonly one: RunPlace
  readonly other: RunPlace
  /** The first tick that is looked at. @default the first that both have */
  readonly from?: number | undefined
}

type State =
  | { readonly is: 'reading'; readonly tick?: number }
  | { readonly is: 'failed'; readonly message: string }
  | { readonly is: 'there'; readonly found: Outcome; readonly one: ComparedRun; readonly other: ComparedRun }

/** How often a person hears how far it is. */
const ticksPerNews = 500

/** Two runs side by side, at their first difference. */
export function Comparison(props: ComparisonProps) {
  const [state, setState] = useState<State>({ is: 'reading' })
  useEffect(() => {
    let isStopped = false
    setState({ is: 'reading' })
    const compare = async (): Promise<void> => {
      const [one, other] = await Promise.all([openRun(props.one), openRun(props.other)])
      const from = props.from ?? Math.max(await firstTickOf(one), await firstTickOf(other))
      const found = await firstDifference(one.past, other.past, {
        from,
        isStopped: () => isStopped,
        seen: (tick) => tick % ticksPerNews === 0 && setState({ is: 'reading', tick }),
      })
      if (found !== undefined && !isStopped) setState({ is: 'there', found, one, other })
    }
    compare().catch((error: unknown) => !isStopped && setState({ is: 'failed', message: problemOf(error).message }))
    return () => (isStopped = true)
  }, [props.from, props.one.world, props.one.file, props.other.world, props.other.file])
  return (
    <section class="comparison" aria-label="First difference" tabIndex={0}>
      <Result {...state} />
    </section>
  )
}

function Result(state: State) {
  if (state.is === 'failed') {
    return (
      <p class="bad" role="alert">
        {state.message}
      </p>
    )
  }
  if (state.is === 'reading') {
    return <Loading what={state.tick === undefined ? 'Reading both' : `Alike up to tick ${numberText(state.tick)}`} />
  }
  const { found, one, other } = state
  if (found.isSame) return <Same found={found} one={one} other={other} />
  const { differences, otherTick, tick } = found
  return (
    <>
      <p role="status">
        They first differ at tick <b>{numberText(tick)}</b>
        {tick !== otherTick && (
          <>
            , which is tick <b>{numberText(otherTick)}</b> of {other.title}
          </>
        )}
        .
      </p>
      <div class="sides is-head">
        <Side run={one} tick={tick} />
        <Side run={other} tick={otherTick} />
      </div>
      {differences.map((difference) => (
        <Row
          key={`${difference.entity} ${difference.component}`}
          difference={difference}
          one={one.title}
          other={other.title}
        />
      ))}
    </>
  )
}

function Same(props: {
  readonly found: Outcome & { readonly isSame: true }
  readonly one: ComparedRun
  readonly other: ComparedRun
}) {
  const { found, one, other } = props
  const longer = one.past.newest > found.tick ? one : other.past.newest > found.otherTick ? other : undefined
  return (
    <p role="status">
      They are the same{longer !== undefined && ' as far as both go'}, over {numberText(found.ticks)} ticks to tick{' '}
      <b>{numberText(found.tick)}</b>.
      {longer !== undefined && ` ${longer.title} goes on to tick ${numberText(longer.past.newest)}.`}
    </p>
  )
}

function Side({ run, tick }: { readonly run: ComparedRun; readonly tick: number }) {
  const { title, world } = run
  return (
    <div>
      <h3 class="clip" title={title}>
        {title}
      </h3>
      {world !== undefined && (
        <a class="link" href={hrefOf({ world, tick, view: 'world', entity: undefined, q: undefined })}>
          Go to tick {numberText(tick)}
        </a>
      )}
    </div>
  )
}

function Row(props: { readonly difference: Difference; readonly one: string; readonly other: string }) {
  const { component, entity, index } = props.difference
  const sides: readonly (readonly [string, Json | undefined])[] = [
    [props.one, props.difference.one],
    [props.other, props.difference.other],
  ]
  return (
    <div class="difference" role="group" aria-label={`#${entity} ${component}`}>
      <h3>
        #{entity} · {component}
        {index !== undefined && <span class="muted"> item {index}</span>}
      </h3>
      <div class="sides">
        {sides.map(([title, value]) => (
          <div key={title} role="group" aria-label={title}>
            {value === undefined ? <span class="muted">does not have it</span> : <JsonTree value={value} open={3} />}
          </div>
        ))}
      </div>
    </div>
  )
}
