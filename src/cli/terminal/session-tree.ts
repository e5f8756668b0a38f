import type { SessionStatus, TokenUsage } from '../../index.ts'
import type { AskEvent, AskEventOf, FoundAgent, FoundSession, OpenTool } from '../ask-event.ts'
import { callText } from './tool-text.ts'

/** `answering`: it has ended, and now answers a further question. */
export type BranchState = SessionStatus | 'asleep' | 'answering' | 'stopped'

export interface Branch {
  /** Session ids from the outermost to its own; empty: the lead. */
  readonly path: readonly string[]
  readonly name: string
  readonly state: BranchState
  readonly steps: number
  readonly tokens: number
  readonly durationMs: number
  readonly doing: string
}

interface Node {
  readonly path: readonly string[]
  name: string
  status: SessionStatus
  isAsked: boolean
  isAsleep: boolean
  isStopped: boolean
  steps: number
  tokens: number
  /** Time at work before `sinceMs`. */
  workedMs: number
  sinceMs: number | undefined
  readonly calls: Map<string, string>
  activity: string
  note: string
  /** Events up to this tick are known already. */
  readonly knownTick: number
}

/** The lead and its sessions, built from the events of a run. The caller gives the time. */
export class SessionTree {
  readonly #nodes = new Map<string, Node>()

  constructor(nowMs: number) {
    this.#add([], 'lead', 'running', nowMs)
  }

  /** Events of a killed process are repeated after a restart. */
  isNew(event: AskEvent): boolean {
    return !('tick' in event) || event.tick > (this.#at(event.path)?.knownTick ?? -1)
  }

  take(event: AskEvent, nowMs: number): void {
    if (!this.isNew(event)) return
    if (event.type === 'run-started') this.#begin(event, nowMs)
    else if (event.type === 'run-ended') this.#end(event, nowMs)
    else if (event.type === 'run-stopped') for (const node of this.#nodes.values()) stop(node, nowMs)
    else if ('session' in event) this.#takeSession(event, nowMs)
    else {
      const node = this.#at(event.path)
      if (node !== undefined) this.#takeStep(node, event)
    }
  }

  /** Returns an unknown id unchanged. */
  nameOf(sessionId: string): string {
    const node = [...this.#nodes.values()].find(({ path }) => path.at(-1) === sessionId)
    return node?.name ?? sessionId
  }

  /** The lead first, each session after the one that launched it. */
  branches(nowMs: number): Branch[] {
    const below = (path: readonly string[]): Node[] => {
      const own = [...this.#nodes.values()].filter((node) => node.path.length === path.length + 1)
      const children = own.filter((node) => path.every((id, depth) => node.path[depth] === id))
      return children.flatMap((node) => [node, ...below(node.path)])
    }
    const lead = this.#at([])
    return (lead === undefined ? [] : [lead, ...below([])]).map((node) => branchOf(node, nowMs))
  }

  #begin({ before }: AskEventOf<'run-started'>, nowMs: number): void {
    if (before === undefined) return
    this.#nodes.clear()
    const lead = this.#add([], 'lead', 'running', nowMs, before.lead)
    lead.isAsleep = before.lead.isAsleep
    for (const found of before.tree) this.#addFound(found, nowMs)
    for (const call of before.lead.open) lead.calls.set(call.callId, this.#callText(call))
  }

  #addFound(found: FoundSession, nowMs: number): void {
    const node = this.#add(found.path, found.name, found.status, nowMs, found)
    node.note = found.note ?? ''
    node.isAsked = found.isAsked
    node.isAsleep = found.isAsleep
    for (const call of found.open) node.calls.set(call.callId, this.#callText(call))
  }

  #end(event: AskEventOf<'run-ended'>, nowMs: number): void {
    const lead = this.#at([])
    if (lead === undefined) return
    halt(lead, nowMs)
    lead.workedMs = event.durationMs
    lead.status = event.stop === 'done' ? 'succeeded' : 'failed'
    lead.isAsleep = false
  }

  #takeSession(event: Extract<AskEvent, { readonly session: string }>, nowMs: number): void {
    const path = [...(event.path ?? []), event.session]
    const node = this.#at(path) ?? this.#add(path, this.nameOf(event.session), 'queued', nowMs)
    if (event.type === 'session-queued') node.name = event.name
    else if (event.type === 'session-started') {
      node.name = event.name
      node.status = 'running'
      node.sinceMs = nowMs
    } else if (event.type === 'session-ended') {
      halt(node, nowMs)
      node.status = event.status
      node.workedMs = event.durationMs ?? node.workedMs
      node.note = event.note ?? ''
    } else node.isAsked = false
  }

  #takeStep(node: Node, event: AskEvent): void {
    switch (event.type) {
      case 'model-called':
        node.steps++
        node.activity = 'thinking'
        node.isAsleep = false
        node.isAsked = node.status === 'succeeded'
        return
      case 'model-delta':
        node.activity =
          event.kind === 'tool-call' ? `calling ${event.text}` : event.kind === 'text' ? 'writing' : 'thinking'
        return
      case 'model-replied':
        node.tokens += tokensOf(event.usage)
        node.activity = ''
        return
      case 'summary-started':
        node.activity = event.kind === 'summary' ? 'compacting' : 'noting what is done'
        return
      case 'boundary-written':
      case 'compaction-failed':
      case 'checkpoint-failed':
        node.activity = ''
        return
      case 'retry-scheduled':
        node.activity = `waiting to retry: ${event.failure.message}`
        return
      case 'tool-called':
        node.calls.set(event.callId, this.#callText(event))
        return
      case 'tool-progressed':
        node.activity = event.message
        return
      case 'tool-answered':
        node.calls.delete(event.callId)
        if (event.tool === 'subagent_wait' && event.text.startsWith('Waiting for ')) node.isAsleep = true
        return
      default:
    }
  }

  #callText(call: OpenTool): string {
    return callText(call.tool, call.arguments, (sessionId) => this.nameOf(sessionId))
  }

  #add(path: readonly string[], name: string, status: SessionStatus, nowMs: number, found?: FoundAgent): Node {
    const node: Node = {
      path,
      name,
      status,
      isAsked: false,
      isAsleep: false,
      isStopped: false,
      steps: found?.steps ?? 0,
      tokens: tokensOf(found?.usage ?? {}),
      workedMs: found?.durationMs ?? 0,
      sinceMs: status === 'running' ? nowMs : undefined,
      calls: new Map(),
      activity: '',
      note: '',
      knownTick: found?.tick ?? -1,
    }
    this.#nodes.set(path.join('/'), node)
    return node
  }

  #at(path: readonly string[] = []): Node | undefined {
    return this.#nodes.get(path.join('/'))
  }
}

function halt(node: Node, nowMs: number): void {
  if (node.sinceMs !== undefined) node.workedMs += nowMs - node.sinceMs
  node.sinceMs = undefined
  node.calls.clear()
  node.activity = ''
}

function stop(node: Node, nowMs: number): void {
  halt(node, nowMs)
  node.isStopped = node.status === 'running' || node.isAsked
}

function branchOf(node: Node, nowMs: number): Branch {
  const { path, name, steps, tokens, workedMs, sinceMs } = node
  const durationMs = workedMs + (sinceMs === undefined ? 0 : nowMs - sinceMs)
  return { path, name, state: stateOf(node), steps, tokens, durationMs, doing: doingOf(node) }
}

function stateOf({ status, isAsked, isAsleep, isStopped }: Node): BranchState {
  if (isStopped) return 'stopped'
  if (isAsked) return 'answering'
  return status === 'running' && isAsleep ? 'asleep' : status
}

function doingOf({ status, isAsked, isAsleep, isStopped, calls, activity, note }: Node): string {
  if (isStopped || status === 'queued') return ''
  if (status !== 'running' && !isAsked) return note
  const [call, ...others] = calls.values()
  if (call !== undefined) return others.length === 0 ? call : `${call} and ${others.length} more`
  return isAsleep ? '' : activity || 'thinking'
}

function tokensOf({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0 }: TokenUsage): number {
  return input + cacheRead + cacheWrite + output
}
