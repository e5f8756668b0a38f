import { type AskEvent, type AskEventOf, type ContextEvent, isContextEvent, type View } from '../ask-event.ts'
import { durationText, many } from './amounts.ts'
import { beforeText, contextText, totalsText, writeHead } from './run-texts.ts'
import { type Output, Screen } from './screen.ts'
import { type Branch, SessionTree } from './session-tree.ts'
import { toolRow } from './tool-text.ts'
import { treeLines } from './tree-lines.ts'

/** A run as lines that never change, for pipes, files and dumb terminals. */
export class PlainView implements View {
  readonly #screen: Screen
  readonly #tree = new SessionTree(performance.now())
  #model = ''
  /** Text of the lead's current step. */
  #said = ''
  #answer: string | undefined

  constructor(out: Output, { isDumb }: { readonly isDumb: boolean }) {
    this.#screen = new Screen(out, { isDumb })
  }

  tell(event: AskEvent): void {
    if (!this.#tree.isNew(event)) return
    this.#tree.take(event, performance.now())
    switch (event.type) {
      case 'run-started':
        return this.#start(event)
      case 'tool-answered':
        return this.#screen.row(toolRow(event, { nameOf: this.#nameOf, lead: this.#leadOf(event.path) }))
      case 'session-started':
        return this.#session(event.session, '▸', 'running')
      case 'session-ended':
        return this.#ended(event)
      case 'warning':
        return this.#screen.text(`  ${this.#leadOf(event.path)}${event.message}`)
      case 'retry-scheduled': {
        const when = event.waitMs === undefined ? '' : ` in ${durationText(event.waitMs)}`
        return this.#screen.text(`  ${this.#leadOf(event.path)}${event.failure.message} Retrying${when}.`)
      }
      case 'run-stopped':
        this.#writeTree()
        return this.#screen.text(`Stopped. To continue ${event.run}:  ${event.resumeBy}`)
      case 'run-ended':
        return this.#end(event)
      default:
        if (isContextEvent(event)) this.#context(event)
        else if (event.path === undefined) this.#listen(event)
    }
  }

  close(): void {
    this.#screen.endStream()
  }

  #start(event: AskEventOf<'run-started'>): void {
    const { run, model, before } = event
    this.#model = model
    writeHead(this.#screen, event)
    if (before === undefined) return
    if (before.isFinished) {
      this.#screen.text(`Nothing to resume: ${run} has ended already.`)
      return this.#screen.gap()
    }
    this.#screen.text(beforeText(before))
    for (const tool of before.tools) this.#screen.row(toolRow(tool, { nameOf: this.#nameOf }))
    this.#writeTree()
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
    this.#screen.gap()
    this.#screen.stream(text)
    this.#screen.gap()
  }

  #context(event: ContextEvent): void {
    const text = contextText(event)
    if (text !== undefined) this.#screen.text(`  ${this.#leadOf(event.path)}${text}`)
  }

  #session(session: string, mark: string, note: string): void {
    this.#screen.row({ mark, markStyle: 'bold', text: this.#nameOf(session), note })
  }

  #ended({ session, status, note }: AskEventOf<'session-ended'>): void {
    const branch = this.#branches().find(({ path }) => path.at(-1) === session)
    const facts = branch === undefined || branch.steps === 0 ? [] : factsOf(branch)
    const isWell = status === 'succeeded'
    const why = isWell || note === undefined ? [] : [note]
    this.#session(session, isWell ? '✓' : '✗', [status, ...facts, ...why].join(' · '))
  }

  #end({ run, answer, ...totals }: AskEventOf<'run-ended'>): void {
    if (answer !== '' && answer !== this.#answer) this.#say(answer)
    this.#writeTree()
    this.#screen.text(`${run}: ${totalsText(totals, this.#model)}`)
  }

  #writeTree(): void {
    this.#screen.gap()
    this.#screen.lines(treeLines(this.#branches(), { columns: this.#screen.columns, spinner: '▸' }))
    this.#screen.gap()
  }

  #branches(): Branch[] {
    return this.#tree.branches(performance.now())
  }

  #leadOf(path: readonly string[] | undefined): string {
    return path === undefined ? '' : `${this.#nameOf(path.at(-1) ?? '')} › `
  }

  readonly #nameOf = (sessionId: string): string => this.#tree.nameOf(sessionId)
}

function factsOf({ steps, tokens, durationMs }: Branch): string[] {
  return [many(steps, 'step'), many(tokens, 'token'), durationText(durationMs)]
}
