import { type AskEvent, type AskEventOf, type Before, isContextEvent, type View } from '../ask-event.ts'
import { durationText } from './amounts.ts'
import { PlainView } from './plain-view.ts'
import { beforeText } from './run-texts.ts'
import { RunView } from './run-view.ts'
import type { Output, StyledLine } from './screen.ts'
import { toolRow } from './tool-text.ts'

const redrawMs = 100
const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
/** Lines that the tree leaves free above it. */
const linesAbove = 6

/** Redraws a capable terminal in place; anything else gets plain lines. */
export function textView(out: Output, { isDumb }: { readonly isDumb: boolean }): View {
  return out.isTTY === true && !isDumb ? new TerminalView(out) : new PlainView(out, { isDumb })
}

/** The lead's work line by line, and below it the tree of sessions, redrawn in place. */
export class TerminalView extends RunView {
  #timer: NodeJS.Timeout | undefined
  #frame = 0
  #isStreamed = false

  constructor(out: Output) {
    super(out, { isDumb: false })
  }

  override tell(event: AskEvent): void {
    super.tell(event)
    // Deltas are frequent: the timer redraws soon enough.
    if (this.#timer !== undefined && event.type !== 'model-delta') this.#draw()
  }

  protected override show(event: AskEvent): void {
    if (event.type === 'run-started') this.#start(event)
    else if (event.type === 'run-stopped') this.#stop(event)
    else if (event.type === 'run-ended') this.#end(event)
    else if (event.type === 'warning') this.screen.afterStream(() => this.screen.text(`  ${event.message}`, 'yellow'))
    else if (event.type === 'session-ended') this.#failure(event)
    else if (isContextEvent(event)) this.context(event)
    else if (event.path === undefined) this.#lead(event)
  }

  override close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.screen.endStream()
    this.screen.live([])
  }

  #start(event: AskEventOf<'run-started'>): void {
    if (!this.begin(event)) return
    const { before } = event
    if (before !== undefined) this.#before(before)
    this.#timer = setInterval(() => {
      this.#frame++
      this.#draw()
    }, redrawMs).unref()
  }

  #before(before: Before): void {
    this.screen.text(beforeText(before), 'dim')
    for (const tool of before.tools) this.screen.row(toolRow(tool, { nameOf: this.nameOf, style: 'dim' }), 'dim')
    this.screen.gap()
  }

  #lead(event: AskEvent): void {
    const screen = this.screen
    switch (event.type) {
      case 'model-called':
        this.#isStreamed = false
        return
      case 'model-delta':
        if (event.kind === 'text') this.#stream(event.text)
        else if (event.kind === 'tool-call' && screen.endStream()) screen.gap()
        return
      case 'model-discarded':
        this.#isStreamed = false
        if (screen.endStream()) screen.text('  (This answer broke off and is discarded.)', 'dim')
        return
      case 'model-replied':
        if (screen.endStream()) screen.gap()
        return
      case 'retry-scheduled': {
        const { failure, waitMs = 0 } = event
        return screen.text(`  ${failure.message} Retrying in ${durationText(waitMs)}.`, 'yellow')
      }
      case 'tool-answered':
        return screen.row(toolRow(event, { nameOf: this.nameOf }))
      default:
    }
  }

  #stream(text: string): void {
    if (!this.screen.isStreaming) this.screen.gap()
    this.#isStreamed = true
    this.screen.stream(text)
  }

  /** Failures stay on the screen when the tree is gone. */
  #failure({ session, status, note = status }: AskEventOf<'session-ended'>): void {
    if (status === 'succeeded') return
    const row = { mark: '✗', markStyle: 'red', text: this.nameOf(session), note } as const
    this.screen.afterStream(() => this.screen.row(row))
  }

  #stop(event: AskEventOf<'run-stopped'>): void {
    this.close()
    this.stopped(event)
  }

  #end(event: AskEventOf<'run-ended'>): void {
    this.close()
    if (!this.#isStreamed && event.answer !== '') this.#stream(event.answer)
    this.ended(event)
  }

  #draw(): void {
    const hint: StyledLine = [{ text: '  Ctrl-C stops; --resume continues', style: 'dim' }]
    const tree = this.treeLines(spinner[this.#frame % spinner.length], this.screen.rows - linesAbove)
    this.screen.live([...tree, hint])
  }
}
