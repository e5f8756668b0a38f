import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import { Conversation, type Entity, type Message, type Runner, textOf, type World } from '../index.ts'
import { answeredTools, type AskEvent, contextEventTypes, type OpenTool, openTools, sessionName } from './ask-event.ts'

type Path = readonly string[] | undefined
type Tell = (event: AskEvent) => void

/** Events keep their order, although some wait for a look-up. */
export interface Following {
  /** Resolves when all events so far are emitted. */
  done(): Promise<void>
}

/** Emits the Runner's events with the data that they refer to. */
export function followRun(run: { readonly runner: Runner; readonly agent: Entity }, tell: Tell): Following {
  let line = Promise.resolve()
  const isNew = firstTime()
  const say = (event: AskEvent | Promise<AskEvent>): void => {
    const before = line
    line = (async () => {
      await before
      const known = await event
      if (isNew(known)) tell(known)
    })()
  }
  followSteps(run.runner, say)
  followTools(run, say)
  followSessions(run.runner, say)
  followContext(run.runner, say)
  followTroubles(run.runner, say)
  return { done: () => line }
}

/** After a restart a world emits its newest tick again. */
function firstTime(): (event: AskEvent) => boolean {
  const places = new Map<string, { readonly tick: number; readonly index: number }>()
  return (event) => {
    if (!('tick' in event)) return true
    const { path = [], tick, index } = event
    const last = places.get(path.join('/'))
    if (last !== undefined && (tick < last.tick || (tick === last.tick && index <= last.index))) return false
    places.set(path.join('/'), { tick, index })
    return true
  }
}

function followSteps(runner: Runner, tell: Tell): void {
  const { world } = runner
  runner.on('model-called', ({ path, tick, index, step }) =>
    tell({ type: 'model-called', ...at(path), tick, index, step }),
  )
  runner.on('model-delta', (event) => {
    const { delta } = event
    const within = at(pathOf(event))
    if (delta.type === 'tool-call') tell({ type: 'model-delta', ...within, kind: 'tool-call', text: delta.name })
    else if (delta.type !== 'tool-arguments')
      tell({ type: 'model-delta', ...within, kind: delta.type, text: delta.text })
  })
  runner.on('model-discarded', (event) => tell({ type: 'model-discarded', ...at(pathOf(event)) }))
  runner.on('model-replied', ({ path, tick, index, usage }) => {
    tell({ type: 'model-replied', ...at(path), tick, index, usage })
  })
  runner.on('retry-scheduled', ({ path, tick, index, attempt, atMs, failure }) => {
    // A session's world has its own time, unknown here.
    const waitMs = path === undefined ? atMs - world.nowMs : undefined
    tell({ type: 'retry-scheduled', ...at(path), tick, index, attempt, waitMs, failure })
  })
}

function followTools(
  { runner, agent }: { readonly runner: Runner; readonly agent: Entity },
  say: (event: Promise<AskEvent>) => void,
): void {
  const conversation = (path: Path): Promise<readonly Message[]> => conversationOf(runner, agent, path)
  runner.on('tool-called', ({ path, tick, index, callId, tool }) => {
    const known = conversation(path).then((messages): AskEvent => {
      const call: OpenTool = { callId, tool, arguments: argumentsOf(messages, callId) }
      return { type: 'tool-called', ...at(path), tick, index, ...call }
    })
    say(known)
  })
  runner.on('tool-answered', ({ path, tick, index, callId, tool, isError, result }) => {
    const known = conversation(path).then((messages): AskEvent => {
      const call = { callId, tool, arguments: argumentsOf(messages, callId), isError }
      const text = textOf({ role: 'tool', callId, name: tool, content: result })
      return { type: 'tool-answered', ...at(path), tick, index, ...call, text }
    })
    say(known)
  })
  runner.on('tool-progressed', (event) => {
    const { message, fraction } = event
    say(Promise.resolve({ type: 'tool-progressed', ...at(pathOf(event)), message, fraction }))
  })
}

function argumentsOf(messages: readonly Message[], callId: string): OpenTool['arguments'] {
  return [...openTools(messages), ...answeredTools(messages)].find((call) => call.callId === callId)?.arguments ?? {}
}

/** Empty for sessions below the first level, which cannot be read here. */
async function conversationOf(runner: Runner, agent: Entity, path: Path): Promise<readonly Message[]> {
  if (path === undefined) return [...runner.world.read(agent, Conversation)]
  const [sessionId = ''] = path
  if (path.length > 1) return []
  const transcript = await runner
    .subagents(agent)
    .transcript(sessionId)
    .catch(() => undefined)
  return transcript?.messages ?? []
}

function followSessions(runner: Runner, tell: Tell): void {
  const { world } = runner
  const durations = new Map<string, { readonly durationMs: number; readonly error: string | null }>()
  runner.on('session-queued', ({ path, tick, index, session, sessionId }) => {
    const name = path === undefined ? sessionName(world.read(session, SubagentSession).prompt) : sessionId
    tell({ type: 'session-queued', ...at(path), tick, index, session: sessionId, name })
  })
  runner.on('delegation-started', ({ path, tick, index, sessionId, task }) => {
    tell({ type: 'session-started', ...at(path), tick, index, session: sessionId, name: sessionName(task), task })
  })
  runner.on('delegation-completed', ({ sessionId, durationMs, error }) =>
    durations.set(sessionId, { durationMs, error }),
  )
  runner.on('session-ended', ({ path, tick, index, session, sessionId, lifecycleStatus: status }) => {
    const { durationMs, error } = durations.get(sessionId) ?? {}
    durations.delete(sessionId)
    const note = error ?? (path === undefined ? noteOf(world, session) : undefined)
    tell({ type: 'session-ended', ...at(path), tick, index, session: sessionId, status, durationMs, note })
  })
  runner.on('query-answered', ({ path, tick, index, sessionId }) => {
    tell({ type: 'query-answered', ...at(path), tick, index, session: sessionId })
  })
}

function followContext(runner: Runner, tell: Tell): void {
  for (const type of contextEventTypes) {
    runner.on(type, (event) => {
      const { world: _, ...facts } = event
      tell(facts as AskEvent)
    })
  }
}

function followTroubles(runner: Runner, tell: Tell): void {
  runner.on('warning', ({ path, message }) => tell({ type: 'warning', ...at(path), message }))
  runner.on('commit-failed', (event) => {
    const { tick, attempt, message } = event
    const text = `Tick ${tick} could not be committed (attempt ${attempt}): ${message}`
    tell({ type: 'warning', ...at(pathOf(event)), message: text })
  })
  runner.on('ticks-lost', (event) => tell({ type: 'warning', ...at(pathOf(event)), message: event.message }))
  runner.on('listener-failed', ({ event, message }) => {
    tell({ type: 'warning', message: `An event '${event}' could not be shown: ${message}` })
  })
}

function noteOf(world: World, session: Entity): string | undefined {
  const { error, summary } = world.read(session, SubagentSession)
  return error ?? (typeof summary === 'string' ? summary : undefined)
}

/** Streamed events of sessions have a path too. */
function pathOf(event: object): Path {
  return 'path' in event ? (event.path as Path) : undefined
}

function at(path: Path): { readonly path?: readonly string[] } {
  return path === undefined ? {} : { path }
}
