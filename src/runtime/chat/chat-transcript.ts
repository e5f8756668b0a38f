import { Boundary } from '../../../components/context/boundary.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import type { EventsByType } from '../../engine/loop/events.ts'
import type { Runner } from '../../engine/loop/runner.ts'
import type { Message } from '../../protocol/message.ts'
import type { TokenUsage } from '../../protocol/usage.ts'
import { messageLine, rewriteLine } from '../../rules/context/transcript-lines.ts'
import { countUpTo, inTurns, type PlacedMessage, seqAt, type TurnPlace } from '../../rules/projection/places.ts'
import type { Entity } from '../../world/component.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import { answerOf } from '../ask/answer.ts'
import { TranscriptFile } from './transcript-file.ts'

/** The first line of a transcript, and what lists of chat sessions show. */
export interface TranscriptHead {
  readonly key: string
  /** Unix time in milliseconds. */
  readonly createdAt: number
  readonly cwd?: string | undefined
  readonly channel: string
  /** `provider/model` at the beginning. */
  readonly model: string
}

/** What an event says besides the messages, which are read from the world. */
interface News {
  readonly usage?: TokenUsage
  readonly hasEnded?: true
  readonly rewrite?: string
  /** Messages were taken back: the place of the last one is another. */
  readonly isRewound?: true
}

type Heard =
  | 'turn-started'
  | 'model-called'
  | 'model-replied'
  | 'tool-answered'
  | 'turn-ended'
  | 'turn-archived'
  | 'rewound'
  | 'boundary-written'

interface Line {
  readonly type?: string
  readonly seq?: number
  readonly toSeq?: number
  readonly text?: string
}

/**
 * Writes the messages of a chat session to a file as they are committed. The file is an export: nothing is read back from it
 * but how far it is, so it can be deleted, and is then written anew.
 */
export class ChatTranscript {
  readonly #runner: Runner
  readonly #agent: Entity
  readonly #file: TranscriptFile
  readonly #ends: (() => void)[] = []
  /** What the events of a tick have said, until it is written. */
  readonly #news: News[] = []
  #seq = 0
  /** The newest message that was written, and its place. */
  #last: { readonly message: Message | undefined; readonly place: TurnPlace } | undefined
  /** A message stands behind the last `turn-end`. */
  #isTurnOpen = false
  readonly #rewrites = new Set<string>()
  #hasFailed = false

  /** @throws what the file system throws */
  constructor(path: string, runner: Runner, agent: Entity, head: TranscriptHead) {
    this.#runner = runner
    this.#agent = agent
    this.#file = new TranscriptFile(path)
    this.#read(this.#file.lines)
    if (this.#file.lines.length === 0) this.#file.append([JSON.stringify({ type: 'session', version: 1, ...head })])
    this.#write([], runner.host.clock.date())
    this.#follow()
  }

  close(): void {
    for (const end of this.#ends.splice(0)) end()
    this.#file.close()
  }

  #read(lines: readonly string[]): void {
    for (const text of lines) {
      const line = parsed(text)
      if (line?.type === 'message') {
        this.#seq = Math.max(this.#seq, line.seq ?? 0)
        this.#isTurnOpen = true
      } else if (line?.type === 'turn-end') this.#isTurnOpen = false
      else if (line?.type === 'rewrite') this.#rewrites.add(rewriteKey(text))
    }
  }

  #follow(): void {
    this.#on('turn-started', () => ({}))
    this.#on('model-called', () => ({}))
    this.#on('model-replied', ({ usage }) => ({ usage }))
    this.#on('tool-answered', () => ({}))
    this.#on('turn-ended', () => ({ hasEnded: true as const }))
    this.#on('turn-archived', (event) => ({ rewrite: rewriteLine({ ...event, at: event.dateMs }).text }))
    this.#on('rewound', ({ dateMs: at, fromSeq, toSeq }) => ({
      isRewound: true,
      rewrite: JSON.stringify({ type: 'rewrite', kind: 'rewind', text: '[taken back]', fromSeq, toSeq, at }),
    }))
    this.#on('boundary-written', ({ dateMs: at, kind, seq: toSeq }) => {
      const entry = this.#runner.world.get(this.#agent, Boundary)?.findLast(({ seq }) => seq === toSeq)
      return { rewrite: JSON.stringify({ type: 'rewrite', kind, text: entry?.text ?? '', fromSeq: 1, toSeq, at }) }
    })
  }

  #on<K extends Heard>(type: K, told: (event: EventsByType[K]) => News): void {
    this.#ends.push(
      this.#runner.on(type, (event: EventsByType[K]) => {
        if (event.path !== undefined || event.agent !== this.#agent) return
        // All events of a tick are emitted in one go.
        if (this.#news.length === 0) queueMicrotask(() => this.#flush(event.dateMs))
        this.#news.push(told(event))
      }),
    )
  }

  #flush(at: number): void {
    try {
      this.#write(this.#news.splice(0), at)
      this.#hasFailed = false
    } catch (error) {
      // What is missing is written with the next tick.
      if (!this.#hasFailed)
        process.emitWarning(`A transcript cannot be written: ${thrownMessage(error)}`, 'EntiaWarning')
      this.#hasFailed = true
    }
  }

  #write(news: readonly News[], at: number): void {
    if (news.some((one) => one.isRewound)) this.#last = undefined
    const messages = this.#newMessages()
    const usage = news.find((one) => one.usage !== undefined)?.usage
    const replied = messages.findLast(({ message }) => message.role === 'assistant' && message.model !== undefined)
    const lines = messages.map((placed) => messageText(placed, at, placed === replied ? usage : undefined))
    const rewrites = news.flatMap(({ rewrite }) => (rewrite === undefined ? [] : [rewrite]))
    const unknown = rewrites.filter((line) => !this.#rewrites.has(rewriteKey(line)))
    const isOpen = this.#isTurnOpen || messages.length > 0
    const hasEnded = isOpen && news.some((one) => one.hasEnded === true)
    if (hasEnded) {
      const { costUsd = null, stop, usage: used } = answerOf(this.#runner.world, this.#agent)
      lines.push(JSON.stringify({ type: 'turn-end', at, stop, usage: used, costUsd }))
    }
    this.#file.append([...lines, ...unknown])
    const last = messages.at(-1)
    if (last !== undefined) {
      this.#seq = last.seq
      this.#last = { message: last.message, place: last }
    }
    for (const line of unknown) this.#rewrites.add(rewriteKey(line))
    this.#isTurnOpen = isOpen && !hasEnded
  }

  /** The messages that are not written yet, and before which none can be inserted any more. */
  #newMessages(): readonly PlacedMessage[] {
    const { world } = this.#runner
    const all = world.read(this.#agent, Conversation)
    const from = countUpTo(world, this.#agent, this.#seq)
    const messages = all.slice(from, settledCount(all))
    if (messages.length === 0) return []
    if (this.#last === undefined && from > 0) {
      const place = inTurns(all.slice(0, from)).at(-1)
      if (place !== undefined) this.#last = { message: place.message, place }
    }
    return inTurns(messages, this.#last).map((placed, index) => ({
      ...placed,
      seq: seqAt(world, this.#agent, from + index),
    }))
  }
}

/** How many messages from the first on have their final place: results of open calls go in front of what follows. */
function settledCount(messages: readonly Message[]): number {
  const asking = messages.findLastIndex(({ role }) => role === 'assistant')
  const calls = messages[asking]?.content.filter(({ type }) => type === 'tool-call').length ?? 0
  let answered = asking + 1
  while (messages[answered]?.role === 'tool') answered++
  return answered - asking - 1 < calls ? answered : messages.length
}

function messageText(placed: PlacedMessage, at: number, usage: TokenUsage | undefined): string {
  const { text } = messageLine(placed, at)
  return usage === undefined ? text : `${text.slice(0, -1)},"usage":${JSON.stringify(usage)}}`
}

/** The same for the line of the same rewrite, whenever it was written. */
function rewriteKey(line: string): string {
  const { text, toSeq } = parsed(line) ?? {}
  return JSON.stringify([toSeq, text])
}

function parsed(line: string): Line | undefined {
  try {
    return JSON.parse(line) as Line
  } catch {
    return undefined
  }
}
