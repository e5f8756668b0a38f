import { readHead } from '../../../world/restore.ts'
import { CallsInRows } from '../../reading/calls-in-rows.ts'
import { marksInLine } from '../../reading/marks.ts'
import type { SavedPage } from '../../reading/saved-page.ts'
import type {
  CallsReply,
  MarksQuery,
  MarksReply,
  Problem,
  SummariesQuery,
  TicksQuery,
  TicksReply,
  WorldsReply,
} from '../../reading/wire.ts'
import type { SpansQuery } from '../../reading/wire-of-many.ts'
import { type Connection, ProblemError } from './connection.ts'
import { SavedRun, type SavedWorld } from './saved-run.ts'

/** The run that a page carries, if it carries one. */
export function savedPage(): SavedPage | undefined {
  const text = document.getElementById('saved')?.textContent
  return text === undefined || text === null ? undefined : (JSON.parse(text) as SavedPage)
}

/** Answers from the run that the page carries, and asks no one. */
export class SavedConnection implements Connection {
  readonly #saved: SavedPage
  readonly #run: SavedRun

  constructor(saved: SavedPage) {
    this.#saved = saved
    this.#run = new SavedRun(saved)
  }

  async get<Reply>(route: string, query: object = {}): Promise<Reply> {
    return (await this.#answer(route, query)) as Reply
  }

  async post<Reply>(route: string, body: object): Promise<Reply> {
    if (route === 'summaries') return (await this.#run.summaries((body as SummariesQuery).worlds)) as Reply
    if (route === 'spans') return (await this.#run.spans((body as SpansQuery).worlds)) as Reply
    throw refusal('A saved page only shows. Open the run with entia inspect to act on a copy.')
  }

  live(): () => void {
    return () => undefined
  }

  #answer(route: string, query: object): unknown {
    switch (route) {
      case 'source':
        return this.#saved.source
      case 'worlds':
        return this.#list()
      case 'ticks':
        return this.#ticks(query as TicksQuery)
      case 'marks':
        return this.#marks(query as MarksQuery)
      case 'calls':
        return this.#calls(query as MarksQuery)
      case 'inbox':
        return this.#run.inbox(query)
      case 'waits':
        return this.#run.waits()
      case 'text':
        return { text: undefined }
      case 'transcript':
        return { lines: undefined }
      default:
        throw refusal('This needs the program beside the page. Open the run with entia inspect.')
    }
  }

  #list(): WorldsReply {
    const { entries: worlds } = this.#run
    return { worlds, total: worlds.length }
  }

  #ticks({ from, snapshot: isSnapshotWanted = false, to = Infinity, world }: TicksQuery): TicksReply {
    const { rows, snapshot } = this.#world(world)
    const newest = rows.at(-1)?.tick ?? snapshot.tick
    if (from !== undefined && from > newest) {
      const what = `World '${world}' has no tick ${from}: its newest is ${newest}. Go to an earlier tick.`
      throw new ProblemError({ code: 'invalid-argument', message: what })
    }
    if (isSnapshotWanted) return { snapshot, rows, newest, isCut: false }
    return { rows: rows.filter(({ tick }) => tick >= (from ?? 0) && tick <= to), newest, isCut: false }
  }

  #marks({ from, to, world }: MarksQuery): MarksReply {
    const rows = this.#world(world).rows.filter(({ tick }) => tick >= from && tick <= to)
    return { marks: rows.flatMap(({ line, tick }) => marksInLine(tick, line)), from, to }
  }

  #calls({ from = 0, to = Infinity, world }: Partial<MarksQuery> & Pick<MarksQuery, 'world'>): CallsReply {
    const { rows, snapshot } = this.#world(world)
    const last = Math.min(to, rows.at(-1)?.tick ?? snapshot.tick)
    const found = new CallsInRows(readHead(snapshot.lines[1] ?? '').header.nowMs)
    for (const { line, tick } of rows) if (tick <= last) found.read(tick, line, tick >= from)
    return { ...found.all, from: Math.max(from, snapshot.tick + 1), to: last }
  }

  #world(name: string): SavedWorld {
    const found = this.#run.world(name)
    if (found !== undefined) return found
    const message = `There is no world '${name}' in ${this.#saved.source.title}. Choose another one.`
    throw new ProblemError({ code: 'no-such-world', message })
  }
}

function refusal(message: string): ProblemError {
  return new ProblemError({ code: 'not-found', message } satisfies Problem)
}
