import type { AnsweredTool, AskEvent, Before, Totals, View } from '../ask-event.ts'
import { choosingKeys, scriptedModel } from '../choose-model.ts'
import { Screen, type Output, type Style } from './screen.ts'
import { callText, resultText } from './tool-text.ts'

type EventOf<T extends AskEvent['type']> = Extract<AskEvent, { readonly type: T }>

const redrawMs = 100
const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const numbers = new Intl.NumberFormat('en')

/**
 * A run for people: text as it is streamed, a line for every tool call, and on a terminal a last line that tells what is
 * going on.
 */
export class TerminalView implements View {
  readonly #screen: Screen
  readonly #startedMs = performance.now()
  /** Calls under way, by id. */
  readonly #calls = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #frame = 0
  #earlierMs = 0
  #model = ''
  #step = 0
  #tokens = 0
  #activity = ''
  /** The text of this step stands on the screen. */
  #isStreamed = false
  /** What happened up to this tick is told already. */
  #toldTick = -1

  /** `isDumb`: the terminal knows no control codes. */
  constructor(out: Output, options: { readonly isDumb: boolean }) {
    this.#screen = new Screen(out, options)
  }

  tell(event: AskEvent): void {
    if ('tick' in event && event.tick <= this.#toldTick) return
    switch (event.type) {
      case 'run-started':
        return this.#start(event)
      case 'model-called':
        this.#step = event.step
        this.#activity = 'thinking'
        this.#isStreamed = false
        return
      case 'model-delta':
        return this.#delta(event)
      case 'model-discarded':
        this.#isStreamed = false
        if (this.#screen.endStream()) this.#screen.text('  (This answer broke off and counts no more.)', 'dim')
        return
      case 'model-replied':
        if (this.#screen.endStream()) this.#screen.gap()
        this.#tokens += tokensOf(event.usage)
        return
      case 'retry-scheduled':
        this.#screen.text(`  ${event.failure.message} Another try in ${seconds(event.waitMs)}.`, 'yellow')
        this.#activity = 'waiting'
        return
      case 'tool-called':
        this.#calls.set(event.callId, callText(event.tool, event.arguments))
        this.#activity = ''
        return
      case 'tool-progressed':
        this.#activity = event.message
        return
      case 'tool-answered':
        return this.#answered(event)
      case 'warning':
        return this.#screen.text(`  ${event.message}`, 'yellow')
      case 'run-stopped':
        this.close()
        this.#screen.gap()
        return this.#screen.text(`Stopped. To go on with ${event.run}:  ${event.resumeBy}`, 'bold')
      case 'run-ended':
        return this.#end(event)
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#screen.endStream()
    this.#screen.live([])
  }

  #start({ run, folder, places, question, model, before }: EventOf<'run-started'>): void {
    const screen = this.#screen
    this.#model = model
    screen.text(`entia · ${run} · ${model}`, 'bold')
    screen.text(`Reads ${folder}${places.length === 0 ? '' : ` (${places.join(', ')})`}`, 'dim')
    if (model === scriptedModel) {
      const keys = choosingKeys.join(' or ')
      screen.text(`A script reads: it finds and quotes, but does not think. With ${keys} set, a model does.`, 'dim')
    }
    screen.gap()
    screen.text(question, ['bold', 'cyan'])
    screen.gap()
    if (before !== undefined) this.#before(run, before)
    if (screen.isLive && before?.isFinished !== true) this.#timer = setInterval(() => this.#draw(), redrawMs).unref()
  }

  #before(run: string, before: Before): void {
    const screen = this.#screen
    if (before.isFinished) {
      screen.text(`Nothing to resume: ${run} has ended already.`, 'yellow')
      return screen.gap()
    }
    const { modelCalls, tools, durationMs, usage } = before
    this.#toldTick = before.tick
    this.#step = before.step
    this.#earlierMs = durationMs
    this.#tokens = tokensOf(usage)
    screen.text(
      `Done before, and not done again: ${many(modelCalls, 'model call')}, ${many(tools.length, 'tool call')}.`,
      'dim',
    )
    for (const tool of tools) this.#row(tool, 'dim')
    screen.gap()
  }

  #delta({ kind, text }: EventOf<'model-delta'>): void {
    if (kind === 'text') {
      this.#isStreamed = true
      return this.#screen.stream(text)
    }
    // A model may write long arguments behind its text.
    if (kind === 'tool-call' && this.#screen.endStream()) this.#screen.gap()
    this.#activity = kind === 'tool-call' ? `calling ${text}` : 'thinking'
  }

  #answered(event: EventOf<'tool-answered'>): void {
    this.#calls.delete(event.callId)
    this.#row(event)
    if (this.#calls.size === 0) this.#screen.gap()
  }

  #row({ tool, arguments: input, text, isError }: AnsweredTool, style?: Style): void {
    const [mark, markStyle] = isError ? (['✗', 'red'] as const) : (['✓', 'green'] as const)
    const row = {
      mark,
      markStyle: style ?? markStyle,
      text: callText(tool, input),
      note: resultText(tool, text, isError),
    }
    this.#screen.row(row, style)
  }

  #end({ run, answer, ...totals }: EventOf<'run-ended'>): void {
    this.close()
    if (!this.#isStreamed && answer !== '') this.#screen.stream(answer)
    this.#screen.gap()
    this.#screen.text(`${run}: ${this.#totals(totals)}`, 'dim')
  }

  #totals({ modelCalls, toolCalls, usage, durationMs }: Totals): string {
    const { input, cacheRead, cacheWrite, output } = usage
    const sent = [input, cacheRead, cacheWrite].filter((tokens) => tokens !== undefined)
    const parts = [many(modelCalls, 'model call'), many(toolCalls, 'tool call')]
    if (sent.length > 0) parts.push(`${numbers.format(sum(sent))} tokens in`)
    if (output !== undefined)
      parts.push(`${numbers.format(output)} out${this.#model === scriptedModel ? ' (estimated)' : ''}`)
    return [...parts, seconds(durationMs)].join(' · ')
  }

  #draw(): void {
    const [call, ...others] = this.#calls.values()
    const doing = this.#activity || (call ?? 'thinking') + (others.length > 0 ? ` and ${others.length} more` : '')
    const elapsedMs = this.#earlierMs + performance.now() - this.#startedMs
    const facts = [doing, seconds(elapsedMs), `${numbers.format(this.#tokens)} tokens`, 'Ctrl-C stops']
    this.#screen.live([`${spinner[this.#frame++ % spinner.length]} step ${this.#step}`, ...facts])
  }
}

function tokensOf({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0 }: Totals['usage']): number {
  return input + cacheRead + cacheWrite + output
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1_000).toFixed(1)} s`
}

function many(count: number, noun: string): string {
  return `${numbers.format(count)} ${noun}${count === 1 ? '' : 's'}`
}
