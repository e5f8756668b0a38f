import { useEffect } from 'preact/hooks'
import { ownValue } from '../../reading/own-value.ts'
import { type SessionName, type Wait, type WorldWaits, waitsOf } from '../../reading/waits.ts'
import type { PoolNow, QueueNow, WaitsQuery, WaitsReply } from '../../reading/wire-of-many.ts'
import { address, go, hrefOf } from '../data/address.ts'
import { Followed } from '../data/followed.ts'
import { useDate } from '../data/now.ts'
import { moment, source, worlds } from '../data/state.ts'
import { durationText, numberText } from '../data/words.ts'
import { Badge } from '../parts/badge.tsx'
import { Meter } from '../parts/meter.tsx'
import { Empty, Loading, ProblemNotice } from '../parts/notices.tsx'
import { Table } from '../parts/table.tsx'
import type { View } from './view.ts'

/** Who waits for whom or what. */
export const waits: View = {
  id: 'waits',
  title: 'Waits',
  key: '9',
  icon: 'M4.5 2.5h7M4.5 13.5h7M5.5 2.5c0 3 2.5 4 2.5 5.5S5.5 10.5 5.5 13.5M10.5 2.5c0 3-2.5 4-2.5 5.5s2.5 2.5 2.5 5.5',
  component: Waits,
}

const present = new Followed<WaitsReply>('waits', () => rootShown(), 300)
/** A queue that is held, and a line that moves, make no tick. */
const lookEachMs = 1_000

function rootShown(): WaitsQuery | undefined {
  const { world } = address.value
  if (world === undefined) return undefined
  return { root: worlds.value.get(world)?.root ?? world }
}

interface Row extends Wait {
  readonly key: string
  readonly level: number
  readonly isInCircle: boolean
  readonly of: Pick<WorldWaits, 'nowMs' | 'dateMs'>
}

function Waits() {
  const isLiving = source.value?.kind === 'living'
  useEffect(() => present.follow(), [])
  useEffect(() => {
    if (!isLiving) return undefined
    const timer = setInterval(() => present.soon(), lookEachMs)
    return () => clearInterval(timer)
  }, [isLiving])
  const shown = moment.value
  const { tick } = address.value
  const isPast = tick !== 'live' && shown !== undefined && tick < shown.newest
  const now = present.reply.value
  // An earlier tick is known of one world: the one that is shown.
  const reply = isPast ? past(waitsOf(shown.world), now) : now
  const dateMs = useDate(now, present.readMs)
  if (reply === undefined) {
    const { value: problem } = present.problem
    if (problem !== undefined) return <ProblemNotice problem={problem} />
    return worlds.value.size === 0 ? (
      <Empty title="No one waits">What agents wait for appears here.</Empty>
    ) : (
      <Loading what="Reading who waits" />
    )
  }
  const rows = rowsOf(reply)
  const at = isPast ? shown.world.dateMs : dateMs
  return (
    <section class="view waits" aria-label="Waits">
      <div class="tools">
        <h1>Waits</h1>
        <span class="muted">
          {rows.length === 0 ? 'no one waits' : rows.length === 1 ? 'one waits' : `${numberText(rows.length)} wait`}
          {isPast && `, of this world at tick ${numberText(shown.tick)}`}
        </span>
      </div>
      <Circle names={reply.names} circle={reply.circle} />
      {!isPast && <Room pool={reply.pool} queues={reply.queues} />}
      <Table
        label="Who waits"
        rows={rows}
        keyOf={({ key }) => key}
        selected={rows.find(({ world }) => world === address.value.world)?.key}
        onSelect={({ world }) =>
          worlds.value.has(world) && go({ world, tick: isPast ? tick : 'live', entity: undefined })
        }
        onOpen={({ agent, world }) => worlds.value.has(world) && go({ world, view: 'world', entity: agent })}
        levelOf={({ level }) => level}
        rowState={({ isInCircle }) => (isInCircle ? 'circle' : undefined)}
        columns={[
          {
            id: 'who',
            title: 'Who',
            width: 'minmax(110px, 1.6fr)',
            cell: (row) => (
              <span class="name" style={{ '--level': row.level }} title={row.world}>
                <i class="dot" data-state={row.isInCircle ? 'failed' : row.state} aria-hidden="true" />
                <Who row={row} session={ownValue(reply.names, row.world)} />
              </span>
            ),
          },
          {
            id: 'state',
            title: 'State',
            width: '96px',
            room: 'some',
            cell: ({ isInCircle, state }) =>
              isInCircle ? <Badge state="failed">circle</Badge> : <Badge state={state} />,
          },
          {
            id: 'what',
            title: 'Waits for',
            width: 'minmax(120px, 2.4fr)',
            cell: (row) => <Whom row={row} reply={reply} />,
          },
          {
            id: 'since',
            title: 'Since',
            width: '92px',
            isNumber: true,
            room: 'some',
            cell: (row) => sinceText(row, at),
          },
          {
            id: 'due',
            title: 'Due in',
            width: '92px',
            isNumber: true,
            cell: (row) => <Due row={row} at={at} queues={isPast ? [] : reply.queues} />,
          },
        ]}
        empty={
          <Empty title="No one waits">
            Whatever an agent waits for stands here: models, tools, people, sessions, slots.
          </Empty>
        }
      />
    </section>
  )
}

function Who({ row, session }: { readonly row: Row; readonly session: SessionName | undefined }) {
  return (
    <>
      <span class="clip">{session?.name ?? row.world}</span>
      {session !== undefined && <span class="muted clip">{session.task}</span>}
      {session === undefined && row.agent !== undefined && <span class="muted">#{row.agent}</span>}
    </>
  )
}

function past(own: WorldWaits, now: WaitsReply | undefined): WaitsReply {
  return { worlds: [own], names: { ...now?.names, ...own.names }, circle: [], queues: [], dateMs: own.dateMs }
}

function rowsOf({ circle, worlds: all }: WaitsReply): readonly Row[] {
  const stuck = new Set(circle)
  return all.flatMap(({ dateMs, nowMs, path, waits: its, world }) =>
    its.map((wait, index): Row => {
      const isOwn = wait.world === world
      const level = path.length + (isOwn ? 0 : 1)
      const isInCircle = stuck.has(wait.world) && (wait.state === 'slot' || (wait.on ?? []).some((on) => stuck.has(on)))
      return { ...wait, key: `${world}/${index}`, level, isInCircle, of: { dateMs, nowMs } }
    }),
  )
}

function Circle({ circle, names }: Pick<WaitsReply, 'circle' | 'names'>) {
  if (circle.length === 0) return null
  return (
    <p class="circle" role="alert">
      <b>These wait for each other, and none can go on:</b>
      {[...circle, circle[0] as string].map((world, index) => (
        <a key={index} href={hrefOf({ world, tick: 'live', view: 'world', entity: undefined, q: undefined })}>
          {ownValue(names, world)?.name ?? world}
        </a>
      ))}
    </p>
  )
}

/** Slots of sessions, and the queues of providers. */
function Room({ pool, queues }: { readonly pool: PoolNow | undefined; readonly queues: readonly QueueNow[] }) {
  const shown = queues.filter(({ heldMs, max, waiting }) => heldMs !== undefined || max !== undefined || waiting > 0)
  if (pool === undefined && shown.length === 0) return null
  return (
    <ul class="room" aria-label="Slots and queues">
      {pool !== undefined && (
        <li>
          <span>Session slots</span>
          <Meter label="Session slots in use" value={pool.running} max={pool.cap} />
          <b>
            {pool.running} of {pool.cap}
          </b>
          <span class="muted">
            {pool.line.length === 0 ? 'no one in line' : `${numberText(pool.line.length)} in line`}
          </span>
        </li>
      )}
      {shown.map(({ heldMs, max, name, running, waiting }) => (
        <li key={name} data-state={heldMs === undefined ? undefined : 'retry'}>
          <span>{name}</span>
          {max !== undefined && <Meter label={`Calls of ${name}`} value={running} max={max} />}
          <b>{max === undefined ? numberText(running) : `${running} of ${max}`}</b>
          {waiting > 0 && <span class="muted">{numberText(waiting)} in line</span>}
          {heldMs !== undefined && <span class="held">held for {durationText(heldMs)}</span>}
        </li>
      ))}
    </ul>
  )
}

/** How many kinds of sessions that one waits for are named. */
const maxNamed = 4

function Whom({ reply, row }: { readonly row: Row; readonly reply: WaitsReply }) {
  const { on = [], queue, state, what, world } = row
  const place = reply.pool?.line.indexOf(world) ?? -1
  const named = [...Map.groupBy(on, (session) => ownValue(reply.names, session)?.name ?? session)]
  const held = reply.queues.find(({ heldMs, name }) => name === queue && heldMs !== undefined)
  return (
    <span class="name">
      <span class="clip">{words[state] === undefined ? what : `${words[state]} ${what}`}</span>
      {named.slice(0, maxNamed).map(([name, [session = '', ...more]]) => (
        <a
          key={session}
          class="link clip"
          title={session}
          href={hrefOf({ world: session, tick: 'live', view: 'waits', entity: undefined })}
        >
          {name}
          {more.length > 0 && ` × ${numberText(more.length + 1)}`}
        </a>
      ))}
      {named.length > maxNamed && <span class="muted">and others</span>}
      {state === 'slot' && place >= 0 && (
        <span class="muted">
          place {place + 1} of {reply.pool?.line.length}
        </span>
      )}
      {held !== undefined && <span class="held">its provider holds all calls</span>}
    </span>
  )
}

const words: Readonly<Partial<Record<Wait['state'], string>>> = {
  approval: 'a person, about',
  question: 'a person, about',
  model: 'the model',
  tool: 'the tool',
  paused: 'a person',
  stopped: 'a person, for',
}

function sinceText({ of: { dateMs, nowMs }, sinceMs }: Row, at: number): string {
  return sinceMs === undefined ? '–' : durationText(Math.max(0, nowMs - sinceMs + Math.max(0, at - dateMs)))
}

function Due(props: { readonly row: Row; readonly at: number; readonly queues: readonly QueueNow[] }) {
  const { at, queues, row } = props
  const { dueMs, of, queue } = row
  const held = queues.find(({ name }) => name === queue)?.heldMs
  const left = dueMs === undefined ? held : dueMs - of.nowMs - Math.max(0, at - of.dateMs)
  if (left === undefined) return <span class="muted">–</span>
  return <>{left <= 0 ? 'now' : durationText(left)}</>
}
