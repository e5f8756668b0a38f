import { useEffect, useRef, useState } from 'preact/hooks'
import { ownValue } from '../../reading/own-value.ts'
import type { Problem } from '../../reading/wire.ts'
import type { OpenQuestion } from '../../reading/wire-of-many.ts'
import { address, hrefOf } from '../data/address.ts'
import { useDate } from '../data/now.ts'
import { answer, inbox, questions, whole } from '../data/questions.ts'
import { problemOf, source, worlds } from '../data/state.ts'
import { durationText, numberText } from '../data/words.ts'
import { Diff } from '../parts/diff.tsx'
import { brief, JsonTree } from '../parts/json-tree.tsx'
import { Empty, Loading, ProblemNotice } from '../parts/notices.tsx'
import { type Column, Table } from '../parts/table.tsx'
import type { View } from './view.ts'

/** What people are asked, from any depth, the oldest first. */
export const inboxView: View = {
  id: 'inbox',
  title: 'Inbox',
  key: '7',
  icon: 'M2.5 9.5 4.5 3h7l2 6.5v3.5h-11zM2.5 9.5h3.2c.3 1.2 1.2 1.8 2.3 1.8s2-.6 2.3-1.8h3.2',
  component: Inbox,
  count: () => questions.value.length,
}

/** A deadline this near is marked. */
const soonMs = 60_000

function Inbox() {
  const [opened, setOpened] = useState<string | undefined>(undefined)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const reason = useRef<HTMLTextAreaElement>(null)
  const reply = inbox.reply.value
  const all = questions.value
  const dateMs = useDate(reply, inbox.readMs)
  const shown = all.find(({ approval }) => approval === opened) ?? all[0]
  const targets = all.filter(({ approval }) => chosen.has(approval))
  const asked = targets.length > 0 ? targets : shown === undefined ? [] : [shown]
  const choose = (approval: string) => {
    const now = new Set(chosen)
    if (!now.delete(approval)) now.add(approval)
    setChosen(now)
  }
  if (reply === undefined) {
    const { value: problem } = inbox.problem
    if (problem !== undefined) return <ProblemNotice problem={problem} />
    return worlds.value.size === 0 ? (
      <Empty title="Nothing is asked">A world appears with its first tick, and what it asks with it.</Empty>
    ) : (
      <Loading what="Reading what is asked" />
    )
  }
  return (
    <section
      class="view inbox"
      aria-label="Inbox"
      onKeyDown={(event) => {
        if ((event.target as HTMLElement).closest('input[type=search], textarea') !== null) return
        if (event.ctrlKey || event.metaKey || event.altKey) return
        if (event.key === 'x' && shown !== undefined) choose(shown.approval)
        else if (event.key === 'r') reason.current?.focus()
        else return
        event.preventDefault()
      }}
    >
      <div class="tools">
        <h1>Inbox</h1>
        <span class="muted">
          {all.length === 0 ? 'nothing is asked' : `${numberText(all.length)} open, the oldest first`}
        </span>
        {address.value.tick !== 'live' && source.value?.kind === 'living' && (
          <span class="muted">These are open now, not at tick {address.value.tick}.</span>
        )}
        <span class="space" />
        {all.length > 1 && (
          <button
            type="button"
            class="button"
            onClick={() =>
              setChosen(targets.length === all.length ? new Set() : new Set(all.map((one) => one.approval)))
            }
          >
            {targets.length === all.length ? 'Choose none' : 'Choose all'}
          </button>
        )}
      </div>
      <div class="halves" data-open={shown !== undefined}>
        <Table
          label="Open approvals"
          rows={all}
          keyOf={({ approval }) => approval}
          selected={shown?.approval}
          onSelect={({ approval }) => setOpened(approval)}
          onOpen={() => reason.current?.focus()}
          columns={columns({ chosen, choose, dateMs })}
          empty={
            <Empty title="Nothing is asked">
              A call that needs a person’s yes appears here, however deep its session lies.
            </Empty>
          }
        />
        <aside class="side" aria-label="What is asked" tabIndex={0}>
          {shown !== undefined && <Details key={shown.approval} asked={shown} dateMs={dateMs} />}
          {asked.length > 0 && <AnswerForm asked={asked} field={reason} answered={() => setChosen(new Set())} />}
        </aside>
      </div>
    </section>
  )
}

function columns(props: {
  readonly chosen: ReadonlySet<string>
  readonly choose: (approval: string) => void
  readonly dateMs: number
}): readonly Column<OpenQuestion>[] {
  const { choose, chosen, dateMs } = props
  return [
    {
      id: 'chosen',
      title: '',
      width: '20px',
      cell: ({ approval, tool }) => (
        <input
          type="checkbox"
          aria-label={`Choose ${tool}`}
          tabIndex={-1}
          checked={chosen.has(approval)}
          onClick={(event) => event.stopPropagation()}
          onChange={() => choose(approval)}
        />
      ),
    },
    {
      id: 'tool',
      title: 'Call',
      width: 'minmax(120px, 2fr)',
      cell: (row) => (
        <span class="name">
          <b class="clip">{row.tool}</b>
          <span class="muted clip">{briefOf(row)}</span>
        </span>
      ),
    },
    {
      id: 'who',
      title: 'Who asks',
      width: 'minmax(90px, 1fr)',
      room: 'some',
      cell: (row) => (
        <span class="clip" title={row.world}>
          {row.session?.name ?? row.world} <span class="muted">{row.session?.task}</span>
        </span>
      ),
    },
    { id: 'age', title: 'Open for', width: '76px', isNumber: true, cell: (row) => ageOf(row, dateMs) },
    {
      id: 'due',
      title: 'Expires',
      width: '88px',
      isNumber: true,
      room: 'some',
      cell: (row) => <Deadline asked={row} dateMs={dateMs} />,
    },
  ]
}

function briefOf({ arguments: given, change }: OpenQuestion): string {
  if (change !== undefined) return change.path
  if (given === undefined) return ''
  const values = Object.values(given)
  const [only] = values
  return values.length === 1 && typeof only === 'string' ? only.slice(0, 200) : brief(given, 160)
}

function ageOf({ askedDateMs }: OpenQuestion, dateMs: number): string {
  return askedDateMs === undefined ? '–' : durationText(Math.max(0, dateMs - askedDateMs))
}

/** World time goes on while its world is driven, which says so only with its next tick. */
function leftMs({ dateMs: worldDateMs, deadlineMs, nowMs }: OpenQuestion, dateMs: number): number | undefined {
  return deadlineMs === undefined ? undefined : deadlineMs - nowMs - Math.max(0, dateMs - worldDateMs)
}

function Deadline({ asked, dateMs }: { readonly asked: OpenQuestion; readonly dateMs: number }) {
  const left = leftMs(asked, dateMs)
  if (left === undefined) return <span class="muted">never</span>
  return <span class={left < soonMs ? 'bad' : ''}>{left <= 0 ? 'now' : durationText(left)}</span>
}

function Details({ asked, dateMs }: { readonly asked: OpenQuestion; readonly dateMs: number }) {
  const [read, setRead] = useState<OpenQuestion | undefined>(asked.arguments === undefined ? undefined : asked)
  const [problem, setProblem] = useState<Problem | undefined>(undefined)
  useEffect(() => {
    if (read !== undefined) return
    void whole(asked.approval).then(setRead, (error: unknown) => setProblem(problemOf(error)))
  }, [asked.approval])
  const left = leftMs(asked, dateMs)
  const { change } = read ?? {}
  return (
    <article class="card">
      <header>
        <h2>{asked.tool}</h2>
        {[asked.operation, asked.dataClass].map((word) => word !== undefined && <span class="chip">{word}</span>)}
        <span class="space" />
        <span class="muted clip">
          {asked.session !== undefined && `${asked.session.name} · `}
          {asked.model}
        </span>
      </header>
      <Path asked={asked} />
      <dl class="facts">
        <dt>Open for</dt>
        <dd>{asked.askedDateMs === undefined ? 'longer than what is kept' : ageOf(asked, dateMs)}</dd>
        <dt>Expires</dt>
        <dd>{left === undefined ? 'never' : left <= 0 ? 'now' : `in ${durationText(left)}`}</dd>
        {asked.session !== undefined && (
          <>
            <dt>Its task</dt>
            <dd>{asked.session.task}</dd>
          </>
        )}
        {asked.reason !== undefined && (
          <>
            <dt>Why it asks</dt>
            <dd>{asked.reason}</dd>
          </>
        )}
      </dl>
      {read === undefined && problem !== undefined ? (
        <ProblemNotice problem={problem} />
      ) : read === undefined ? (
        <Loading what="Reading the arguments" />
      ) : change === undefined ? (
        <section class="component" aria-label="Arguments">
          <JsonTree value={read.arguments ?? {}} open={3} />
        </section>
      ) : (
        <Diff {...change} />
      )}
    </article>
  )
}

/** The way from the root to whoever asks. */
function Path({ asked: { agent, names: known, path, world } }: { readonly asked: OpenQuestion }) {
  const root = worlds.value.get(world)?.root
  const above = path.slice(0, -1).filter((name) => worlds.value.has(name))
  const names = [...new Set([...(root === undefined ? [] : [root]), ...above, world])]
  return (
    <nav class="path" aria-label="Asked by">
      {names.map((name) => (
        <a
          key={name}
          href={hrefOf({
            world: name,
            view: 'world',
            tick: 'live',
            entity: name === world ? agent : undefined,
            q: undefined,
          })}
          title={ownValue(known, name)?.task ?? name}
        >
          {ownValue(known, name)?.name ?? name}
        </a>
      ))}
    </nav>
  )
}

function AnswerForm(props: {
  readonly asked: readonly OpenQuestion[]
  readonly field: { current: HTMLTextAreaElement | null }
  readonly answered: () => void
}) {
  const { answered, asked, field } = props
  const [reason, setReason] = useState('')
  const [problem, setProblem] = useState<Problem | undefined>(undefined)
  const can = source.value?.can.act === true
  const isDriven = asked.every((one) => one.isDriven)
  if (!can || !isDriven) {
    const why = can ? 'It can be answered where its world is driven.' : 'Actions are off here: this page only shows.'
    return <p class="answer muted">{why}</p>
  }
  const many = asked.length > 1 ? ` ${asked.length}` : ''
  const send = async (approved: boolean) => {
    setProblem(undefined)
    const found = await answer(asked, approved, reason)
    setProblem(found)
    if (found !== undefined) return
    setReason('')
    answered()
  }
  return (
    <form class="answer" onSubmit={(event) => event.preventDefault()} aria-label="Answer">
      <label>
        <span>Reason, which the model reads</span>
        <textarea
          ref={field}
          rows={2}
          value={reason}
          placeholder="Optional"
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape')
              document
                .querySelector<HTMLElement>('.inbox [role=grid][tabindex], .inbox [role=grid] [tabindex="0"]')
                ?.focus()
          }}
        />
      </label>
      {problem !== undefined && (
        <p class="bad" role="alert">
          {problem.message}
        </p>
      )}
      <div class="buttons">
        <button type="button" class="button is-main" onClick={() => void send(true)}>
          Approve{many}
        </button>
        <button type="button" class="button is-bad" onClick={() => void send(false)}>
          Decline{many}
        </button>
        <span class="space" />
        <span class="muted keys">
          <kbd>x</kbd> choose <kbd>r</kbd> reason
        </span>
      </div>
    </form>
  )
}
