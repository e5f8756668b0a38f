import { type AskEvent, type AskEventOf, type ContextEvent, type View } from '../ask-event.ts'
import { contextText, totalsText, writeHead } from './run-texts.ts'
import { type Output, Screen, type StyledLine } from './screen.ts'
import { type Branch, SessionTree } from './session-tree.ts'
import { treeLines } from './tree-lines.ts'

/** What the plain and the terminal view share. */
export abstract class RunView implements View {
  protected readonly screen: Screen
  readonly #tree = new SessionTree(performance.now())
  #model = ''

  constructor(out: Output, { isDumb }: { readonly isDumb: boolean }) {
    this.screen = new Screen(out, { isDumb })
  }

  tell(event: AskEvent): void {
    if (!this.#tree.isNew(event)) return
    this.#tree.take(event, performance.now())
    this.show(event)
  }

  abstract close(): void
  protected abstract show(event: AskEvent): void

  /** Returns whether the run goes on. */
  protected begin(event: AskEventOf<'run-started'>): boolean {
    this.#model = event.model
    writeHead(this.screen, event)
    if (event.before?.isFinished !== true) return true
    this.screen.text(`Nothing to resume: ${event.run} has ended already.`, 'yellow')
    this.screen.gap()
    return false
  }

  protected context(event: ContextEvent): void {
    const text = contextText(event)
    const style = event.type === 'boundary-written' ? 'dim' : 'yellow'
    const who = this.whoOf(event.path)
    if (text !== undefined) this.screen.afterStream(() => this.screen.text(`  ${who}${text}`, style))
  }

  protected stopped({ run, resumeBy }: AskEventOf<'run-stopped'>): void {
    this.writeTree()
    this.screen.text(`Stopped. To continue ${run}:  ${resumeBy}`, 'bold')
  }

  protected ended({ run, ...totals }: AskEventOf<'run-ended'>): void {
    this.writeTree()
    this.screen.text(`${run}: ${totalsText(totals, this.#model)}`, 'dim')
  }

  protected writeTree(): void {
    this.screen.gap()
    this.screen.lines(this.treeLines())
    this.screen.gap()
  }

  protected treeLines(spinner = '▸', maxLines?: number): StyledLine[] {
    return treeLines(this.branches(), { columns: this.screen.columns, maxLines, spinner })
  }

  protected branches(): Branch[] {
    return this.#tree.branches(performance.now())
  }

  protected whoOf(path: readonly string[] | undefined): string {
    return path === undefined ? '' : `${this.nameOf(path.at(-1) ?? '')} › `
  }

  protected readonly nameOf = (sessionId: string): string => this.#tree.nameOf(sessionId)
}
