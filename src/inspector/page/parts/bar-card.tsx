import type { SpanKind } from '../../reading/spans.ts'
import { hrefOf } from '../data/address.ts'
import type { Bar, TimelineRow } from '../data/timeline-rows.ts'
import { durationText, numberText } from '../data/words.ts'

const words: Readonly<Record<SpanKind, string>> = {
  model: 'Model call',
  tool: 'Tool call',
  approval: 'Approval',
  retry: 'Retry',
  session: 'Session',
  slot: 'Slot',
  wait: 'Wait',
  paused: 'Pause',
  other: 'Effect',
}

/** A bar in one sentence, for who does not see it. */
export function barText({ title }: TimelineRow, { from, span, to }: Bar): string {
  const how = span.isFailed === true ? ', failed' : ''
  const length = to === Infinity ? 'goes on' : durationText(to - from)
  return `${title}: ${words[span.kind]} ${span.name}, ${length}${how}, from ${durationText(from)}, tick ${span.tick}`
}

export interface BarCardProps {
  readonly row: TimelineRow
  readonly bar: Bar
  readonly now: number
  readonly onOpen: (tick: number) => void
  readonly onClose: () => void
}

/** What a bar is about, and the ways from it. */
export function BarCard({ bar, now, onClose, onOpen, row }: BarCardProps) {
  const { count, from, span, to } = bar
  const { agent, endTick, entity, isFailed, isOlder, kind, name, tick } = span
  return (
    <aside class="bar-card" aria-label="Chosen bar" data-state={isFailed === true ? 'failed' : kind}>
      <i class="swatch" aria-hidden="true" />
      <div class="bar-name">
        <b class="clip">{name}</b>
        <span class="muted clip">
          {words[kind]} of {row.title}
          {count > 1 && `, one of ${numberText(count)} at once`}
        </span>
      </div>
      <dl class="facts">
        <dt>{isOlder === true ? 'Began before' : 'Began'}</dt>
        <dd>{durationText(Math.max(0, from))}</dd>
        <dt>{to === Infinity ? 'So far' : isFailed === true ? 'Failed after' : 'Took'}</dt>
        <dd>{durationText(Math.max(0, Math.min(to, now) - from))}</dd>
      </dl>
      <span class="buttons">
        <button type="button" class="button" onClick={() => onOpen(tick)}>
          Tick {numberText(tick)}
        </button>
        {endTick !== undefined && (
          <button type="button" class="button" onClick={() => onOpen(endTick)}>
            End, tick {numberText(endTick)}
          </button>
        )}
        <a class="link" href={hrefOf({ world: row.world, tick, view: 'world', entity, q: undefined })}>
          Entity {entity}
        </a>
        {agent !== undefined && (
          <a class="link" href={hrefOf({ world: row.world, tick, view: 'conversation', entity: agent, q: undefined })}>
            Conversation
          </a>
        )}
        <button type="button" class="icon" aria-label="Close" onClick={onClose}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="m4 4 8 8M12 4l-8 8" />
          </svg>
        </button>
      </span>
    </aside>
  )
}
