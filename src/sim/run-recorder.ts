import { Due, Effect, OwnedBy, Pending, Running } from '../../components/effects/effect.ts'
import type { DrivenWorld } from '../engine/effects/host-seams.ts'
import { textOf } from '../rules/projection/text-of.ts'
import type { Step } from '../world/journal.ts'
import { runningSystem } from '../world/inspection.ts'
import type { ModelRequest } from '../models/port.ts'
import type { Fault } from './fault.ts'
import { Labels } from '../engine/recording/recorded-worlds.ts'
import { RunHistory } from './run-history.ts'
import { type Broken, type LateCall, LawBook, type LawWatch, type RunFacts, type WatchedWorld } from './law.ts'
import type { CheckedOptions } from './options.ts'
import type { Deed } from './simulated-user.ts'
import type { TraceEntry } from './trace-entry.ts'
import { Trace } from './trace.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import { SubagentWait } from '../../components/sessions/subagent-wait.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'

/** How a run was broken, and where. */
export interface Violation extends Broken {
  readonly world: string
  readonly tick: number
  readonly atMs: number
}

/** The process in which a call starts, of several. */
export interface CallPlace {
  readonly process: string
  /** The world was taken from this process, which does not know that yet. */
  readonly late: Pick<LateCall, 'committedTick' | 'process' | 'world'> | undefined
}

export interface BegunCall {
  readonly kind: 'model' | 'tool'
  readonly name: string
  readonly label: string
  readonly effect: Entity
  readonly attempt: number
  readonly request?: ModelRequest
}

/** A fault that struck, and where the run was then. */
export interface StruckFault {
  readonly fault: Fault
  readonly atMs: number
  /** The world that its place names, by its label, and its tick then. Absent: it names none. */
  readonly label: string | undefined
  readonly tick: number | undefined
}

/** Observes a run: writes the trace, checks the laws, enforces the bounds. The first violation ends the run. */
export class RunRecorder {
  readonly trace: Trace
  readonly labels = new Labels()
  readonly worlds = new Map<string, WatchedWorld>()
  readonly book: LawBook
  /** Absent where no trace is kept either. */
  readonly history: RunHistory | undefined
  readonly struckFaults: StruckFault[] = []
  ticks = 0
  crashes = 0
  /** Grows with all progress, so that a standstill is noticed. */
  progress = 0
  violation: Violation | undefined
  readonly #options: CheckedOptions
  readonly #now: () => number
  readonly #broken = Promise.withResolvers<void>()

  constructor(
    options: CheckedOptions,
    facts: RunFacts,
    { keepsTicks, now }: { readonly now: () => number; readonly keepsTicks: boolean },
  ) {
    this.#options = options
    this.#now = now
    this.trace = new Trace(options.onTrace)
    this.history = keepsTicks && options.onTrace === undefined ? new RunHistory() : undefined
    this.book = new LawBook(options.laws, facts)
  }

  get broken(): Promise<void> {
    return this.#broken.promise
  }

  began(driven: DrivenWorld): void {
    this.history?.began(driven)
    this.labels.learnAll(driven)
    this.ask('began', this.#watched(driven))
  }

  ticked(driven: DrivenWorld, step: Step): void {
    if (this.violation !== undefined) return
    this.progress++
    this.ticks++
    this.labels.learn(driven, step)
    const watched = this.#watched(driven)
    const { label } = watched
    this.history?.ticked(driven, step)
    const { events } = step
    if (events.length > 0) this.trace.writeEvents(this.#now(), label, step.delta.tick, events)
    this.#judge(this.book.ticked(watched, step), label)
    const { maxTicks, maxVirtualMs } = this.#options.bounds
    if (this.ticks >= maxTicks) this.neverIdle(`bounds.maxTicks (${maxTicks})`)
    if (this.#now() >= maxVirtualMs) this.neverIdle(`bounds.maxVirtualMs (${maxVirtualMs})`)
  }

  ended(driven: DrivenWorld): void {
    this.ask('ended', { ...driven, label: this.labels.of(driven) })
  }

  called({ attempt, effect, kind, label, name, request }: BegunCall, place?: CallPlace): void {
    this.progress++
    const { late, process } = place ?? {}
    const world = late?.world ?? this.worlds.get(label)?.world
    if (world === undefined) return
    const where = { ...(process !== undefined && { process }), ...(late !== undefined && { isLate: true }) }
    this.#write({ label, type: `${kind}-began`, facts: { effect, name, attempt, ...where } })
    const restart = world.get(effect, Effect)?.restart ?? 'pure'
    const asked = request === undefined ? {} : { request }
    const call = { kind, name, attempt, label, world, effect, restart, ...asked }
    if (late === undefined) this.ask('called', call)
    else this.ask('calledLate', { ...call, ...late })
  }

  struck(fault: Fault): void {
    if (this.violation === undefined) this.struckFaults.push(this.#struckAt(fault))
    this.#write({ label: '-', type: 'fault', facts: { ...fault } })
  }

  acted(user: string, input: Deed): void {
    const { kind } = input
    const said = input.kind === 'message' ? { text: textOf(input.message) } : {}
    const answered = input.kind === 'answer' ? { approval: input.approval, approved: input.approved } : {}
    const whom = 'agent' in input ? { agent: input.agent } : {}
    this.#write({ label: '-', type: 'user-acted', facts: { user, kind, ...whom, ...said, ...answered } })
  }

  /** @param process of several, whose others go on */
  crashed(why: string, process?: string): void {
    this.crashes++
    this.#write({ label: '-', type: 'crashed', facts: { why, ...(process !== undefined && { process }) } })
    if (process === undefined) this.ask('crashed', undefined)
    const { maxCrashes } = this.#options.bounds
    if (this.crashes >= maxCrashes) this.neverIdle(`bounds.maxCrashes (${maxCrashes})`)
  }

  /** A process begins, or is replaced. */
  process(name: string, what: 'process-replaced' | 'process-started', facts: TraceEntry['facts'] = {}): void {
    this.#write({ label: '-', type: what, facts: { process: name, ...facts } })
  }

  neverIdle(bound: string): void {
    this.break('run-ends', 'A run goes idle within its bounds.', `${bound}. ${whoWaits(this.worlds)}`)
  }

  ask<K extends Exclude<keyof LawWatch, 'ticked'>>(what: K, about: Parameters<NonNullable<LawWatch[K]>>[0]): void {
    if (this.violation !== undefined) return
    this.#judge(this.book.ask(what, about), (about as Partial<WatchedWorld> | undefined)?.label)
  }

  /** Breaks the run for a reason that no law checks. */
  break(law: string, meaning: string, message: string, label?: string): void {
    this.#judge({ law, meaning, message }, label)
  }

  get runningSystem(): string | undefined {
    for (const { label, world } of this.worlds.values()) {
      const system = runningSystem(world)
      if (system !== undefined) return `system '${system}' of ${label}`
    }
    return undefined
  }

  /** The place of a fault begins with the label of a world, or names none: then the root says when. */
  #struckAt(fault: Fault): StruckFault {
    const named = fault.at.slice(0, Math.max(0, fault.at.indexOf(' ')))
    const [root] = this.worlds.keys()
    const label = this.worlds.has(named) ? named : root
    const tick = label === undefined ? undefined : this.worlds.get(label)?.world.tick
    return { fault, atMs: this.#now(), label, tick }
  }

  /** Work in flight continues briefly after a violation; it is not part of the run. */
  #write(entry: Omit<TraceEntry, 'atMs'>): void {
    if (this.violation === undefined) this.trace.write({ atMs: this.#now(), ...entry })
  }

  #watched(driven: DrivenWorld): WatchedWorld {
    const { inSlot, path, world } = driven
    const label = this.labels.of(driven)
    const known = this.worlds.get(label)
    if (known?.world === world && known.inSlot === inSlot) return known
    const watched: WatchedWorld = { world, label, path, inSlot }
    this.worlds.set(label, watched)
    return watched
  }

  #judge(broken: Broken | undefined, label: string | undefined): void {
    if (broken === undefined || this.violation !== undefined) return
    const [first] = this.worlds.keys()
    const world = label ?? first ?? '-'
    const tick = this.worlds.get(world)?.world.tick ?? 0
    const { law, message } = broken
    this.#write({ label: world, tick, type: 'law-broken', facts: { law, message } })
    this.violation = { ...broken, world, tick, atMs: this.#now() }
    this.#broken.resolve()
  }
}

const maxNamed = 20

function whoWaits(worlds: ReadonlyMap<string, WatchedWorld>): string {
  const found = [...worlds.values()].flatMap(({ world, label }) => waitsIn(world).map((what) => `${label}: ${what}`))
  if (found.length === 0) return 'Nothing is waiting in any world.'
  const rest = found.length > maxNamed ? `\n  … and ${found.length - maxNamed} more` : ''
  return `Waiting:\n  ${found.slice(0, maxNamed).join('\n  ')}${rest}`
}

function waitsIn(world: World): string[] {
  const effects = new Set([...world.entitiesWith(Pending), ...world.entitiesWith(Running), ...world.entitiesWith(Due)])
  const waits = world.entitiesWith(SubagentWait).map((agent) => {
    const { mode, deadlineMs } = world.read(agent, SubagentWait)
    return `agent ${agent} sleeps until ${mode} of its sessions have ended${deadlineMs === null ? ', without a deadline' : ''}`
  })
  return [...Array.from(effects, (effect) => effectOf(world, effect)), ...waits]
}

function effectOf(world: World, effect: Entity): string {
  const { kind, attempt, deadlineMs, timeoutMs } = world.read(effect, Effect)
  const owner = world.get(effect, OwnedBy)?.agent ?? world.get(effect, SubagentSession)?.parent
  const tool = world.get(effect, ToolCall)?.name
  const session = world.get(effect, SubagentSession)?.status
  const due = world.get(effect, Due)?.atMs
  const bound = deadlineMs !== undefined || timeoutMs !== undefined ? '' : ', with no time-out'
  const what = `${kind}${tool === undefined ? '' : ` '${tool}'`}${session === undefined ? '' : ` (${session})`}`
  const since = due === undefined ? `try ${attempt}${bound}` : `its next try at ${due} ms`
  return `${owner === undefined ? '' : `agent ${owner} waits for `}${what}, effect ${effect}, ${since}`
}
