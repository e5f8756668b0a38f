import { type AskEvent, type AskEventOf, isContextEvent } from '../ask-event.ts'
import { durationText, many } from './amounts.ts'
import { beforeText } from './run-texts.ts'
import { RunView } from './run-view.ts'
import type { Branch } from './session-tree.ts'
import { toolRow } from './tool-text.ts'

/** A run as lines that never change, for pipes, files and dumb terminals. */
export class PlainView extends RunView {
  /** Text of the lead's current step. */
  #said = ''
  #answer: string | undefined

  protected override show(event: AskEvent): void {
    switch (event.type) {
      case 'run-started':
        return this.#start(event)
      case 'tool-answered':
        return this.screen.row(toolRow(event, { nameOf: this.nameOf, lead: this.whoOf(event.path) }))
      case 'session-started':
        return this.#session(event.session, '▸', 'running')
      case 'session-ended':
        return this.#ended(event)
      case 'warning':
        return this.screen.text(`  ${this.whoOf(event.path)}${event.message}`)
      case 'retry-scheduled': {
        const when = event.waitMs === undefined ? '' : ` in ${durationText(event.waitMs)}`
        return this.screen.text(`  ${this.whoOf(event.path)}${event.failure.message} Retrying${when}.`)
      }
      case 'run-stopped':
        return this.stopped(event)
      case 'run-ended':
        return this.#end(event)
      default:
        if (isContextEvent(event)) this.context(event)
        else if (event.path === undefined) this.#listen(event)
    }
  }

  override close(): void {
    this.screen.endStream()
  }

  #start(event: AskEventOf<'run-started'>): void {
    const { before } = event
    if (!this.begin(event) || before === undefined) return
    this.screen.text(beforeText(before))
    for (const tool of before.tools) this.screen.row(toolRow(tool, { nameOf: this.nameOf }))
    this.writeTree()
  }

  /** Writes the lead's text when it is complete: sessions go on meanwhile. */
  #listen(event: AskEvent): void {
    if (event.type === 'model-delta' && event.kind === 'text') this.#said += event.text
    else if (event.type === 'model-called' || event.type === 'model-discarded') this.#said = ''
    else if (event.type === 'model-replied' && this.#said !== '') {
      this.#say(this.#said)
      this.#answer = this.#said
    }
  }

  #say(text: string): void {
    this.screen.gap()
    this.screen.stream(text)
    this.screen.gap()
  }

  #session(session: string, mark: string, note: string): void {
    this.screen.row({ mark, markStyle: 'bold', text: this.nameOf(session), note })
  }

  #ended({ session, status, note }: AskEventOf<'session-ended'>): void {
    const branch = this.branches().find(({ path }) => path.at(-1) === session)
    const facts = branch === undefined || branch.steps === 0 ? [] : factsOf(branch)
    const isWell = status === 'succeeded'
    const why = isWell || note === undefined ? [] : [note]
    this.#session(session, isWell ? '✓' : '✗', [status, ...facts, ...why].join(' · '))
  }

  #end(event: AskEventOf<'run-ended'>): void {
    const { answer } = event
    if (answer !== '' && answer !== this.#answer) this.#say(answer)
    this.ended(event)
  }
}

function factsOf({ steps, tokens, durationMs }: Branch): string[] {
  return [many(steps, 'step'), many(tokens, 'token'), durationText(durationMs)]
}
