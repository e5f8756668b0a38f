import { useEffect } from 'preact/hooks'
import type { CacheEntry } from '../../reading/wire.ts'
import { address, go, hrefOf } from '../data/address.ts'
import { cacheNow, cacheProblem, wantCache, wantEarlierRequests } from '../data/cache.ts'
import { callsNow, wantCalls } from '../data/calls.ts'
import { moment } from '../data/state.ts'
import { bytesText, moneyText, numberText, shortNumberText } from '../data/words.ts'
import { AgentPicker, agentOf } from '../parts/agent-picker.tsx'
import { NoCalls } from '../parts/no-calls.tsx'
import { Empty, Loading, ProblemNotice } from '../parts/notices.tsx'
import { readable } from '../parts/readable.ts'
import { ComponentLink } from '../parts/request-part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { UsageBar } from '../parts/usage-bar.tsx'
import type { View } from './view.ts'

/** What of each request was the same as in the one before, and what broke the rest. */
export const cache: View = {
  id: 'cache',
  title: 'Cache',
  key: '4',
  icon: 'M2.5 4.5h11M2.5 8h6M2.5 11.5h3.5M11 7v5M8.8 9.5h4.4',
  component: Cache,
  isOfWorld: true,
}

function Cache() {
  const shown = moment.value
  const agent = shown && agentOf(shown.world)
  const calls = callsNow.value
  useEffect(() => shown && wantCalls(shown), [shown])
  useEffect(() => shown && wantCache(shown), [shown, calls])
  if (shown === undefined) return <Loading what="Reading the world" />
  if (agent === undefined)
    return (
      <Empty title="No agent">This world has no agent at this tick. Go to a later one, or choose another world.</Empty>
    )
  const known = cacheNow.value
  const requests = known?.requests.filter((request) => request.agent === agent) ?? []
  const newest = requests.at(-1)
  const chosen = requests.findLast((request) => keyOf(request) === address.value.q) ?? newest
  const most = Math.max(1, ...requests.map(({ totalTokens }) => totalTokens))
  return (
    <section class="view cache" aria-label="Cache">
      <div class="tools">
        <h1>Cache</h1>
        <AgentPicker world={shown.world} agent={agent} />
        <Sums requests={requests} />
        {known !== undefined && known.from > 1 && (
          <button type="button" class="link" onClick={wantEarlierRequests}>
            Earlier requests
          </button>
        )}
      </div>
      {cacheProblem.value !== undefined && <ProblemNotice problem={cacheProblem.value} />}
      {(known !== undefined || cacheProblem.value === undefined) && (
        <div class="halves cache-halves">
          <Table
            label="Requests"
            rows={requests}
            keyOf={keyOf}
            selected={chosen && keyOf(chosen)}
            onSelect={(row) => go({ q: keyOf(row), entity: agent })}
            onOpen={({ effect, tick }) => go({ view: 'request', tick, q: String(effect), entity: agent })}
            columns={columns(most)}
            empty={
              known === undefined && calls?.calls.length !== 0 ? (
                <Loading what="Comparing requests" />
              ) : (
                <NoCalls known={calls} what="Each request is compared with the one before it." />
              )
            }
          />
          <aside class="side" aria-label="Where it differs" tabIndex={0}>
            {chosen !== undefined && <Detail request={chosen} agent={agent} />}
          </aside>
        </div>
      )}
    </section>
  )
}

function keyOf({ effect, tick }: CacheEntry): string {
  return `${tick}/${effect}`
}

function columns(most: number): readonly Column<CacheEntry>[] {
  return [
    { id: 'tick', title: 'Tick', width: '56px', isNumber: true, cell: ({ tick }) => numberText(tick) },
    { id: 'step', title: 'Step', width: '40px', isNumber: true, room: 'some', cell: ({ step }) => step ?? '–' },
    {
      id: 'prefix',
      title: 'Shared',
      width: 'minmax(60px, 2fr)',
      cell: (request) => <Prefix request={request} most={most} />,
    },
    {
      id: 'tokens',
      title: 'Tokens',
      width: '56px',
      isNumber: true,
      room: 'some',
      cell: ({ totalTokens }) => shortNumberText(totalTokens),
    },
    {
      id: 'component',
      title: 'Broken by',
      width: '96px',
      cell: (request) => <BrokenBy request={request} />,
    },
    {
      id: 'again',
      title: 'Paid again',
      width: '72px',
      isNumber: true,
      cell: (request) => shortNumberText(request.broken?.paidAgainTokens ?? (request.before && 0)),
    },
    {
      id: 'cost',
      title: 'Cost',
      width: '66px',
      isNumber: true,
      room: 'some',
      cell: (request) => (request.broken === undefined ? '–' : moneyText(request.broken?.paidAgainNanoUsd)),
    },
  ]
}

function BrokenBy({ request }: { readonly request: CacheEntry }) {
  const { before } = request
  const found = request.broken
  if (found !== undefined) return <span class="bad clip">{found.component}</span>
  return <span class="muted">{before === undefined ? 'first' : 'whole'}</span>
}

/** As long as the request beside the longest; what is the same, and what is paid again. */
function Prefix({ most, request }: { readonly request: CacheEntry; readonly most: number }) {
  const { sharedTokens, totalTokens } = request
  const again = request.broken?.paidAgainTokens ?? 0
  const label = `${numberText(sharedTokens)} of ${numberText(totalTokens)} tokens are the same, ${numberText(again)} are paid again`
  return (
    <span class="prefix" role="img" aria-label={label} title={label}>
      <span style={{ width: `${Math.max(1, (100 * totalTokens) / most)}%` }}>
        <i data-part="shared" style={{ flexGrow: sharedTokens }} />
        <i data-part="again" style={{ flexGrow: again }} />
        <i data-part="new" style={{ flexGrow: Math.max(0, totalTokens - sharedTokens - again) }} />
      </span>
    </span>
  )
}

function Sums({ requests }: { readonly requests: readonly CacheEntry[] }) {
  const breaks = requests.flatMap(({ broken }) => broken ?? [])
  const tokens = breaks.reduce((sum, { paidAgainTokens }) => sum + paidAgainTokens, 0)
  const costs = breaks.map(({ paidAgainNanoUsd }) => paidAgainNanoUsd).filter((cost) => cost !== undefined)
  const cost = costs.reduce((sum, one) => sum + one, 0)
  return (
    <span class="muted">
      {numberText(requests.length)} {requests.length === 1 ? 'request' : 'requests'}
      {breaks.length > 0 && (
        <>
          {' · '}
          <span class="bad">
            {numberText(breaks.length)} {breaks.length === 1 ? 'break' : 'breaks'}
          </span>
          {` · ${shortNumberText(tokens)} tokens paid again`}
          {costs.length > 0 && ` · ${moneyText(cost)}`}
        </>
      )}
    </span>
  )
}

function Detail({ agent, request }: { readonly request: CacheEntry; readonly agent: number }) {
  const { before, model, sharedBytes, sharedTokens, step, tick, totalBytes, totalTokens, usage } = request
  const found = request.broken
  const to = { view: 'request', tick, q: String(request.effect), entity: agent }
  return (
    <div class="card">
      <header>
        <h2>
          Tick {numberText(tick)}, step {step ?? '–'}
        </h2>
        <span class="space" />
        <a
          class="link"
          href={hrefOf(to)}
          onClick={(event) => {
            event.preventDefault()
            go(to)
          }}
        >
          The request
        </a>
      </header>
      <dl class="facts">
        <dt>Model</dt>
        <dd>{model}</dd>
        <dt>Compared with</dt>
        <dd>
          {before === undefined ? (
            'nothing: it is the first, or the one before is not kept'
          ) : (
            <Before before={before} request={request} />
          )}
        </dd>
        <dt>The same</dt>
        <dd>
          {bytesText(sharedBytes)} of {bytesText(totalBytes)}, {numberText(sharedTokens)} of {numberText(totalTokens)}{' '}
          tokens
        </dd>
        {found !== undefined && (
          <>
            <dt>Broken by</dt>
            <dd>
              <ComponentLink component={found.component} entity={agent} />
            </dd>
            <dt>First differing byte</dt>
            <dd>{numberText(found.atByte)}</dd>
            <dt>Paid again</dt>
            <dd class="bad">
              {numberText(found.paidAgainTokens)} tokens
              {found.paidAgainNanoUsd !== undefined && `, ${moneyText(found.paidAgainNanoUsd)}`}
            </dd>
          </>
        )}
      </dl>
      {found !== undefined && (
        <>
          <Piece title="Before" state="failed" text={found.before} other={found.after} />
          <Piece title="Now" state="done" text={found.after} other={found.before} />
        </>
      )}
      {usage !== undefined && (
        <section class="said">
          <h3>What the provider said</h3>
          <UsageBar usage={usage} />
        </section>
      )}
    </div>
  )
}

function Before({
  before,
  request,
}: {
  readonly before: NonNullable<CacheEntry['before']>
  readonly request: CacheEntry
}) {
  const isParent = before.world !== address.value.world
  const to = {
    world: before.world,
    view: 'request',
    tick: before.tick,
    q: String(before.effect),
    entity: isParent ? undefined : request.agent,
  }
  return (
    <a
      class="link"
      href={hrefOf(to)}
      onClick={(event) => {
        event.preventDefault()
        go(to)
      }}
    >
      {isParent ? `that of its parent, ${before.world}, ` : 'that '}of tick {numberText(before.tick)}
    </a>
  )
}

/** Text around the first byte that differs, which is marked. */
function Piece({
  other,
  state,
  text,
  title,
}: {
  readonly title: string
  readonly state: string
  readonly text: string
  readonly other: string
}) {
  const [at, end] = differing(text, other)
  return (
    <figure class="piece" data-state={state}>
      <figcaption>{title}</figcaption>
      <pre class="plain" tabIndex={0}>
        <span class="muted">{readable(text.slice(0, at))}</span>
        <mark>{text.length === 0 ? '(nothing)' : readable(text.slice(at, end))}</mark>
        <span class="muted">{readable(text.slice(end))}</span>
      </pre>
    </figure>
  )
}

/** Where a text begins and ends to be another one. */
function differing(text: string, other: string): readonly [from: number, to: number] {
  let from = 0
  while (from < text.length && text[from] === other[from]) from++
  // Of a text that goes on, it is not known where it is the same again.
  if (text.endsWith('…') || other.endsWith('…')) return [from, text.length]
  const longer = other.length - text.length
  let to = text.length
  while (to > from && to + longer > from && text[to - 1] === other[to - 1 + longer]) to--
  return [from, to]
}
