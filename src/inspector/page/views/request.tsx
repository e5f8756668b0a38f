import { useEffect, useState } from 'preact/hooks'
import type { CallEntry, RequestPart, RequestReply } from '../../reading/wire.ts'
import { address, go } from '../data/address.ts'
import { callsNow, callsProblem, wantCalls, wantEarlier } from '../data/calls.ts'
import { askedRequest, curlOf, wantRequest } from '../data/request.ts'
import { type Moment, moment } from '../data/state.ts'
import { durationText, moneyText, numberText, shortNumberText } from '../data/words.ts'
import { AgentPicker, agentOf } from '../parts/agent-picker.tsx'
import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { MeasuredList } from '../parts/measured-list.tsx'
import { NoCalls } from '../parts/no-calls.tsx'
import { Empty, Loading, ProblemNotice } from '../parts/notices.tsx'
import { type CachedPart, RequestPartView } from '../parts/request-part.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { UsageBar } from '../parts/usage-bar.tsx'
import type { View } from './view.ts'

/** What a model was sent, at any step. */
export const request: View = {
  id: 'request',
  title: 'Request',
  key: '3',
  icon: 'M2.5 8h9M8 4l4 4-4 4',
  component: Request,
  isOfWorld: true,
}

function Request() {
  const shown = moment.value
  const agent = shown && agentOf(shown.world)
  useEffect(() => shown && wantCalls(shown), [shown])
  if (shown === undefined) return <Loading what="Reading the world" />
  if (agent === undefined)
    return (
      <Empty title="No agent">This world has no agent at this tick. Go to a later one, or choose another world.</Empty>
    )
  const known = callsNow.value
  const calls = known?.calls.filter((call) => call.agent === agent) ?? []
  const call = chosen(calls, shown.tick)
  return (
    <section class="view request" aria-label="Request">
      <div class="tools">
        <h1>Request</h1>
        <AgentPicker world={shown.world} agent={agent} />
        <span class="muted">
          {numberText(calls.length)} {calls.length === 1 ? 'call' : 'calls'}
        </span>
        {known?.isWhole === false && (
          <button type="button" class="link" onClick={wantEarlier}>
            Earlier calls
          </button>
        )}
      </div>
      {callsProblem.value !== undefined && <ProblemNotice problem={callsProblem.value} />}
      <div class="request-halves">
        <Table
          label="Calls"
          rows={calls}
          keyOf={keyOf}
          selected={call && keyOf(call)}
          onSelect={(row) => go({ tick: row.tick, q: String(row.effect), entity: agent })}
          rowState={({ state }) => state}
          columns={columns}
          empty={
            known === undefined ? (
              <Loading what="Reading the calls" />
            ) : (
              <NoCalls known={known} what="What the model is sent appears here with its first call." />
            )
          }
        />
        {call === undefined ? <div class="request-detail" /> : <Detail key={keyOf(call)} call={call} shown={shown} />}
      </div>
    </section>
  )
}

function keyOf({ effect, tick }: CallEntry): string {
  return `${tick}/${effect}`
}

/** The newest call at the tick that is shown; of several at one tick the one that was chosen. */
function chosen(calls: readonly CallEntry[], tick: number): CallEntry | undefined {
  const newest = calls.findLast((call) => call.tick <= tick)
  return calls.find((call) => call.tick === newest?.tick && String(call.effect) === address.value.q) ?? newest
}

const columns: readonly Column<CallEntry>[] = [
  { id: 'tick', title: 'Tick', width: '52px', isNumber: true, cell: ({ tick }) => numberText(tick) },
  {
    id: 'what',
    title: 'Call',
    width: 'minmax(70px, 1fr)',
    cell: ({ purpose, state, step }) => (
      <span class="call-name" data-state={state}>
        <i class="dot" aria-hidden="true" />
        <span class="clip">{purpose ?? `step ${step ?? '–'}`}</span>
      </span>
    ),
  },
  { id: 'in', title: 'In', width: '52px', isNumber: true, cell: ({ usage }) => shortNumberText(promptOf(usage)) },
  { id: 'cost', title: 'Cost', width: '64px', isNumber: true, cell: ({ costNanoUsd }) => moneyText(costNanoUsd) },
]

function promptOf(usage: CallEntry['usage']): number | undefined {
  const { cacheRead, cacheWrite, input } = usage ?? {}
  const parts = [input, cacheRead, cacheWrite].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.reduce((sum, part) => sum + part, 0)
}

function Detail({ call, shown }: { readonly call: CallEntry; readonly shown: Moment }) {
  const [tab, setTab] = useState<'parts' | 'wire'>('parts')
  const world = shown.world.name
  useEffect(() => void wantRequest(world, call), [world, keyOf(call), call.tries.length])
  const asked = askedRequest.value
  const isThis = asked?.key === `${world}/${call.tries.at(-1) ?? call.tick}/${call.effect}`
  if (!isThis)
    return (
      <div class="request-detail">
        <Loading what="Rebuilding the request" />
      </div>
    )
  if (asked.problem !== undefined)
    return (
      <div class="request-detail">
        <ProblemNotice problem={asked.problem} />
      </div>
    )
  const reply = asked.reply as RequestReply
  return (
    <div class="request-detail" data-tab={tab}>
      <Facts call={call} reply={reply} />
      <div class="tabs" role="tablist" aria-label="Form of the request">
        {(['parts', 'wire'] as const).map((name) => (
          <button key={name} type="button" role="tab" aria-selected={tab === name} onClick={() => setTab(name)}>
            {name === 'parts' ? 'Parts' : 'On the wire'}
          </button>
        ))}
      </div>
      <div class="request-forms">
        <Parts id={asked.key} call={call} reply={reply} />
        <Wire reply={reply} />
      </div>
    </div>
  )
}

function Facts({ call, reply: { model, parts, tokens } }: { readonly call: CallEntry; readonly reply: RequestReply }) {
  const { atMs, costNanoUsd, endMs, failure, purpose, state, step, tries, usage } = call
  return (
    <header class="request-facts">
      <h2>{purpose ?? `Step ${step ?? ''}`}</h2>
      <span class="muted">{model}</span>
      <Badge state={states[state]}>{state === 'open' ? 'not answered yet' : state}</Badge>
      {tries.length > 1 && <span class="muted">try {tries.length}</span>}
      <span class="space" />
      <span title="As counted here">≈ {numberText(tokens)} tokens</span>
      <span class="muted">{numberText(parts.length)} parts</span>
      {endMs !== undefined && <span class="muted">{durationText(endMs - atMs)}</span>}
      {costNanoUsd !== undefined && <span>{moneyText(costNanoUsd)}</span>}
      {usage !== undefined && <UsageBar usage={usage} />}
      {failure !== undefined && (
        <p class="bad">
          {failure.kind}: {failure.message}
        </p>
      )}
    </header>
  )
}

const states = { open: 'model', replied: 'done', failed: 'failed', cancelled: 'idle' } as const

function Parts({ call, id, reply }: { readonly id: string; readonly call: CallEntry; readonly reply: RequestReply }) {
  const rows = reply.parts.map((part, index) => ({ part, index, cached: cachedPart(reply, call, part) }))
  return (
    <section class="request-form parts-form" aria-label="Parts">
      <div class="form-head">
        <h3>Parts</h3>
        <span class="space" />
        <span class="muted">component</span>
        <span class="part-tokens muted">tokens</span>
      </div>
      <MeasuredList
        label="Parts of the request"
        startsAt="start"
        rows={rows}
        keyOf={({ index }) => String(index)}
        estimate={() => 31}
        render={({ cached, index, part }) => <RequestPartView id={`${id}/${index}`} part={part} cached={cached} />}
      />
    </section>
  )
}

/** Providers tell how much of the prompt was cached, from its beginning. */
function cachedPart({ parts, tokens }: RequestReply, { usage }: CallEntry, part: RequestPart): CachedPart {
  const all = promptOf(usage)
  if (usage?.cacheRead === undefined || all === undefined || all === 0) return undefined
  const cached = (usage.cacheRead / all) * tokens
  let before = 0
  for (const one of parts) {
    if (one === part) break
    before += one.tokens
  }
  // What is counted here and what the provider counts are near to each other, and not the same.
  if (before + part.tokens <= cached * 1.02) return 'whole'
  return before < cached * 0.98 ? 'partly' : 'none'
}

function Wire({ reply: { model, options, outputSchema, parts, wire, wireProblem } }: { readonly reply: RequestReply }) {
  const plain = () =>
    JSON.stringify(
      { model, options, outputSchema, parts: parts.map(({ kind, value }) => ({ kind, value })) },
      undefined,
      2,
    )
  return (
    <section class="request-form wire-form" aria-label="On the wire">
      <div class="form-head">
        <h3>On the wire</h3>
        <span class="space" />
        <CopyButton title="JSON" of={() => (wire === undefined ? plain() : JSON.stringify(wire.body, undefined, 2))} />
        {wire !== undefined && <CopyButton title="curl" of={() => curlOf(wire)} />}
      </div>
      <div class="wire-body" tabIndex={0} role="region" aria-label="The provider's form">
        {wire === undefined ? (
          <Empty title="No form of its own">
            {wireProblem ?? 'The provider of this model is not one whose form is known here, such as a scripted one.'}
          </Empty>
        ) : (
          <>
            <p class="wire-url">
              <b>POST</b> {wire.url}
            </p>
            <dl class="wire-headers">
              {Object.entries({ ...wire.headers, ...wire.keys }).map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
            <JsonTree value={wire.body} open={2} />
          </>
        )}
      </div>
    </section>
  )
}
