import {
  type AskEvent,
  type AskEventOf,
  type Before,
  type ContextEvent,
  isContextEvent,
  type View,
} from '../ask-event.ts'
import { durationText } from './amounts.ts'
import { PlainView } from './plain-view.ts'
import { beforeText, contextText, totalsText, writeHead } from './run-texts.ts'
import { type Output, Screen, type StyledLine } from './screen.ts'
import { SessionTree } from './session-tree.ts'
import { toolRow } from './tool-text.ts'
import { treeLines } from './tree-lines.ts'

const redrawMs = 100
const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const stillMark = '▸'
/** Lines that the tree leaves free above it. */
const linesAbove = 6

/** Redraws a capable terminal in place; anything else gets plain lines. */
export function textView(out: Output, { isDumb }: { readonly isDumb: boolean }): View {
  return out.isTTY === true && !isDumb ? new TerminalView(out) : new PlainView(out, { isDumb })
}

/** The lead's work line by line, and below it the tree of sessions, redrawn in place. */
export class TerminalView implements View {
  readonly #screen: Screen
  readonly #tree = new SessionTree(performance.now())
  #timer: NodeJS.Timeout | undefined
  #frame = 0
  #model = ''
  #isStreamed = false

  constructor(out: Output) {
    this.#screen = new Screen(out, { isDumb: false })
  }

  tell(event: AskEvent): void {
    if (!this.#tree.isNew(event)) return
    this.#tree.take(event, performance.now())
    this.#show(event)
    // Deltas are frequent: the timer redraws soon enough.
    if (this.#timer !== undefined && event.type !== 'model-delta') this.#draw()
  }

  #show(event: AskEvent): void {
    if (event.type === 'run-started') this.#start(event)
    else if (event.type === 'run-stopped') this.#stop(event)
    else if (event.type === 'run-ended') this.#end(event)
    else if (event.type === 'warning') this.#screen.afterStream(() => this.#screen.text(`  ${event.message}`, 'yellow'))
    else if (event.type === 'session-ended') this.#failure(event)
    else if (isContextEvent(event)) this.#context(event)
    else if (event.path === undefined) this.#lead(event)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#screen.endStream()
    this.#screen.live([])
  }

  #start(event: AskEventOf<'run-started'>): void {
    const { run, model, before } = event
    this.#model = model
    writeHead(this.#screen, event)
    if (before?.isFinished === true) {
      this.#screen.text(`Nothing to resume: ${run} has ended already.`, 'yellow')
      return this.#screen.gap()
    }
    if (before !== undefined) this.#before(before)
    this.#timer = setInterval(() => {
      this.#frame++
      this.#draw()
    }, redrawMs).unref()
  }

  #before(before: Before): void {
    this.#screen.text(beforeText(before), 'dim')
    for (const tool of before.tools) this.#screen.row(toolRow(tool, { nameOf: this.#nameOf, style: 'dim' }), 'dim')
    this.#screen.gap()
  }

  #lead(event: AskEvent): void {
    const screen = this.#screen
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
        return screen.row(toolRow(event, { nameOf: this.#nameOf }))
      default:
    }
  }

  #stream(text: string): void {
    if (!this.#screen.isStreaming) this.#screen.gap()
    this.#isStreamed = true
    this.#screen.stream(text)
  }

  /** Failures stay on the screen when the tree is gone. */
  #failure({ session, status, note = status }: AskEventOf<'session-ended'>): void {
    if (status === 'succeeded') return
    const row = { mark: '✗', markStyle: 'red', text: this.#nameOf(session), note } as const
    this.#screen.afterStream(() => this.#screen.row(row))
  }

  #context(event: ContextEvent): void {
    const text = contextText(event)
    if (text === undefined) return
    const who = event.path === undefined ? '' : `${this.#nameOf(event.path.at(-1) ?? '')} › `
    const style = event.type === 'boundary-written' ? 'dim' : 'yellow'
    this.#screen.afterStream(() => this.#screen.text(`  ${who}${text}`, style))
  }

  #stop({ run, resumeBy }: AskEventOf<'run-stopped'>): void {
    this.close()
    this.#screen.gap()
    this.#screen.lines(this.#lines())
    this.#screen.gap()
    this.#screen.text(`Stopped. To continue ${run}:  ${resumeBy}`, 'bold')
  }

  #end({ run, answer, ...totals }: AskEventOf<'run-ended'>): void {
    this.close()
    if (!this.#isStreamed && answer !== '') this.#stream(answer)
    this.#screen.gap()
    this.#screen.lines(this.#lines())
    this.#screen.gap()
    this.#screen.text(`${run}: ${totalsText(totals, this.#model)}`, 'dim')
  }

  #draw(): void {
    const hint: StyledLine = [{ text: '  Ctrl-C stops; --resume continues', style: 'dim' }]
    this.#screen.live([...this.#lines(this.#screen.rows - linesAbove, spinner[this.#frame % spinner.length]), hint])
  }

  #lines(maxLines?: number, mark = stillMark): StyledLine[] {
    const { columns } = this.#screen
    return treeLines(this.#tree.branches(performance.now()), { columns, maxLines, spinner: mark })
  }

  readonly #nameOf = (sessionId: string): string => this.#tree.nameOf(sessionId)
}
