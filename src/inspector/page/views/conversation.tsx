import { useEffect, useMemo, useState } from 'preact/hooks'
import { spentOf } from '../../reading/spent.ts'
import { read } from '../../reading/raw-view.ts'
import type { CallEntry } from '../../reading/wire.ts'
import { callsNow, wantCalls, wantEarlier } from '../data/calls.ts'
import { type ConversationItem, conversationOf, type MessageItem, openCallState, textOf } from '../data/conversation.ts'
import { type Moment, moment, streaming } from '../data/state.ts'
import { tokenCounts, type Uncounted, wantTokens } from '../data/token-counts.ts'
import { moneyText, numberText, shortNumberText } from '../data/words.ts'
import { AgentPicker, agentOf } from '../parts/agent-picker.tsx'
import { ConversationMark } from '../parts/conversation-mark.tsx'
import { MeasuredList } from '../parts/measured-list.tsx'
import { ContentView, Thinking } from '../parts/message-content.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { Empty, Loading } from '../parts/notices.tsx'
import { TickLink } from '../parts/tick-link.tsx'
import { ToolCallView } from '../parts/tool-call.tsx'
import type { View } from './view.ts'

/** What an agent and others said, as a person reads it. */
export const conversation: View = {
  id: 'conversation',
  title: 'Conversation',
  key: '2',
  icon: 'M2.5 3h11v7.5H7L4 13v-2.5H2.5z',
  component: Conversation,
  isOfWorld: true,
}

/** A call whose answer is being written. */
interface StreamItem {
  readonly kind: 'streaming'
  readonly key: string
  readonly effect: number
}

type Row = ConversationItem | StreamItem

function Conversation() {
  const shown = moment.value
  const agent = shown && agentOf(shown.world)
  if (shown === undefined) return <Loading what="Reading the world" />
  if (agent === undefined)
    return (
      <Empty title="No agent">This world has no agent at this tick. Go to a later one, or choose another world.</Empty>
    )
  return <ConversationOf key={`${shown.world.name}/${agent}`} shown={shown} agent={agent} />
}

function ConversationOf({ agent, shown }: { readonly shown: Moment; readonly agent: number }) {
  const { world } = shown
  const calls = callsNow.value
  const [text, setText] = useState('')
  useEffect(() => wantCalls(shown), [shown])
  const items = useMemo(() => conversationOf(world, agent, calls), [shown, agent, calls])
  const rows = useMemo(() => {
    const wanted = text.trim().toLowerCase()
    if (wanted !== '') return items.filter((item) => item.kind === 'message' && textOf(item).includes(wanted))
    return [...items, ...streamsOf(shown, agent)]
  }, [items, text])
  const { name, tick } = { name: world.name, tick: world.tick }
  return (
    <section class="view conversation" aria-label="Conversation">
      <div class="tools">
        <h1>Conversation</h1>
        <AgentPicker world={world} agent={agent} />
        <Totals items={items} shown={shown} agent={agent} />
        <span class="space" />
        <input
          data-search
          type="search"
          placeholder="Find in this conversation"
          aria-label="Find in this conversation"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        {text.trim() !== '' && <span class="muted">{numberText(rows.length)} found</span>}
      </div>
      <MeasuredList<Row>
        label="Messages"
        rows={rows}
        keyOf={({ key }) => key}
        estimate={estimate}
        render={(row) => <RowView row={row} shown={shown} agent={agent} />}
        onSeen={(seen, isStart) => {
          void wantTokens({ world: name, agent, tick }, seen.flatMap(uncounted))
          if (isStart || seen.some((row) => row.kind === 'message' && row.came === undefined)) wantEarlier()
        }}
        empty={
          text.trim() === '' ? (
            <Empty title="Nothing was said yet">A message to this agent appears here.</Empty>
          ) : (
            <Empty title="Nothing found">No message, tool call or result has this in it.</Empty>
          )
        }
      />
    </section>
  )
}

function streamsOf({ world }: Moment, agent: number): readonly StreamItem[] {
  return world
    .referrers('OwnedBy', agent)
    .filter((effect) => world.value(effect, 'ModelCall') !== undefined && world.value(effect, 'Outcome') === undefined)
    .map((effect) => ({ kind: 'streaming', key: `stream/${effect}`, effect }))
}

/** Before a row is seen: what its text is likely to take. */
function estimate(row: Row): number {
  if (row.kind !== 'message') return 48
  const chars = row.message.content.reduce(
    (sum, block) => sum + (block.type === 'text' ? Math.min(block.text.length, 4_000) : 0),
    0,
  )
  return 58 + Math.ceil(chars / 110) * 20 + row.results.size * 34
}

/** What has no count of its provider. */
function uncounted(row: Row): readonly Uncounted[] {
  if (row.kind !== 'message') return []
  return row.message.role === 'assistant' ? [...row.results.values()] : [row]
}

function RowView({ agent, row, shown }: { readonly row: Row; readonly shown: Moment; readonly agent: number }) {
  if (row.kind === 'message') return <MessageView item={row} shown={shown} agent={agent} />
  if (row.kind === 'streaming') return <Streamed item={row} shown={shown} />
  return <ConversationMark item={row} shown={shown} agent={agent} />
}

const roles = { user: 'User', system: 'World', assistant: 'Agent', tool: 'Tool' } as const

function MessageView({
  agent,
  item,
  shown,
}: {
  readonly item: MessageItem
  readonly shown: Moment
  readonly agent: number
}) {
  const { call, came, index, isCompacted, isFirst, key, message, results, seq, step, turn } = item
  const world = shown.world.name
  const counts = tokenCounts.value
  const model = message.role === 'assistant' ? message.model : undefined
  return (
    <div class="message" data-role={message.role} data-compacted={isCompacted} data-first={isFirst && index > 0}>
      <header>
        <strong>{message.role === 'assistant' && model === undefined ? 'Program' : roles[message.role]}</strong>
        <span class="muted">
          {isFirst || model === undefined ? `turn ${turn}` : `step ${step}`}
          {isCompacted && ' · not sent any more'}
        </span>
        {message.role === 'tool' && <code class="muted">{message.name}</code>}
        <span class="space" />
        <span class="figures">
          {call === undefined ? <Count tokens={counts.get(`${world}/${agent}/${seq}`)} /> : <CallFigures call={call} />}
        </span>
        {came === undefined ? <span class="tick-link" /> : <TickLink tick={came.tick} />}
      </header>
      <div class="blocks">
        {message.content.map((block, at) =>
          block.type === 'tool-call' ? (
            <ToolCallView
              key={at}
              id={`${world}/${key}/${at}`}
              call={block}
              result={results.get(block.id)}
              tokens={counts.get(`${world}/${agent}/${results.get(block.id)?.seq ?? 0}`)}
              open={results.has(block.id) ? undefined : openCallState(shown.world, agent, block.id)}
            />
          ) : (
            <ContentView key={at} id={`${world}/${key}/${at}`} block={block} isPlain={message.role === 'tool'} />
          ),
        )}
        {message.content.length === 0 && <p class="muted">It is empty.</p>}
      </div>
    </div>
  )
}

function Count({ tokens }: { readonly tokens: number | undefined }) {
  return tokens === undefined ? null : <span title="As counted here">{numberText(tokens)} tokens</span>
}

/** What a reply has cost. */
function CallFigures({ call: { costNanoUsd, usage } }: { readonly call: CallEntry }) {
  const cached = usage?.cacheRead ?? 0
  const all = (usage?.input ?? 0) + cached + (usage?.cacheWrite ?? 0)
  const isCounted = Object.values(usage ?? {}).some((count) => count !== undefined)
  const title = `${numberText(all)} tokens in, ${numberText(cached)} of them from the cache; ${numberText(usage?.output ?? 0)} out`
  return (
    <span title={isCounted ? title : 'The provider did not count tokens'}>
      {usage !== undefined && isCounted && (
        <>
          {shortNumberText(all)} in
          {cached > 0 && all > 0 && <span class="is-extra"> ({Math.round((100 * cached) / all)} % cached)</span>} ·{' '}
          {shortNumberText(usage.output)} out
        </>
      )}
      {costNanoUsd !== undefined && ` · ${moneyText(costNanoUsd)}`}
    </span>
  )
}

/** A longer text is shown as it is while it grows. */
const maxStreamedMarkdown = 12_000
const maxStreamedChars = 60_000

function Streamed({ item: { effect, key }, shown }: { readonly item: StreamItem; readonly shown: Moment }) {
  const said = streaming.value.get(`${shown.world.name}/${effect}`)
  const due = read(shown.world, effect, 'Due')
  const isNow = shown.tick === shown.newest
  const waiting =
    due !== undefined ? 'waits for its next try' : isNow ? 'is asked' : 'was asked; it had not answered at this tick'
  const text = said?.text ?? ''
  return (
    <div class="message is-streaming" data-role="assistant" aria-busy={isNow}>
      <header>
        <strong>Agent</strong>
        <span class="muted">{text === '' || !isNow ? `its model ${waiting}` : 'is writing'}</span>
      </header>
      {isNow && said !== undefined && (
        <div class="blocks">
          {said.thinking !== '' && <Thinking id={`${key}/thinking`} text={said.thinking} isHidden={false} />}
          {text.length <= maxStreamedMarkdown ? (
            <Markdown label="Text" text={text} />
          ) : (
            <pre class="plain" tabIndex={0}>
              {text.slice(-maxStreamedChars)}
            </pre>
          )}
        </div>
      )}
    </div>
  )
}

function Totals({
  agent,
  items,
  shown,
}: {
  readonly items: readonly ConversationItem[]
  readonly shown: Moment
  readonly agent: number
}) {
  const messages = items.filter(({ kind }) => kind === 'message').length
  const usage = read(shown.world, agent, 'Usage')
  const { nanoUsd: cost } = spentOf(shown.world, agent)
  return (
    <span class="muted">
      {numberText(messages)} {messages === 1 ? 'message' : 'messages'}
      {usage !== undefined && ` · ${numberText(usage.calls)} ${usage.calls === 1 ? 'call' : 'calls'}`}
      {cost !== undefined && ` · ${moneyText(cost)}`}
    </span>
  )
}
