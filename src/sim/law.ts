import type { RestartClass } from '../protocol/tool-declaration.ts'
import type { DrivenStep } from '../engine/effects/host-seams.ts'
import type { ModelRequest } from '../models/port.ts'
import { refuseUnknownOptions } from '../base/known-options.ts'
import { thrownMessage } from '../base/thrown-message.ts'
import type { Component, Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { describeValue, misuse } from './describe-value.ts'
import { type Concern, TickChanges } from './tick-changes.ts'

/** A world of a run, as laws see it. */
export interface WatchedWorld {
  readonly world: World
  /** The name in the trace: `team`, or `team/1.2` for the second session of agent 1. */
  readonly label: string
  /** Session ids from the outermost to its own; empty: the root. */
  readonly path: readonly string[]
  /** Runs in a slot of the pool. A question to an ended session does not. */
  readonly inSlot: boolean
}

/** A committed tick, and the world right after it. */
export interface WatchedTick extends WatchedWorld {
  readonly step: DrivenStep
  /** Changes by component. Valid until the next tick. */
  readonly changes: TickChanges
}

/** A model or tool call that is about to start. */
export interface WatchedCall {
  readonly label: string
  readonly world: World
  readonly effect: Entity
  readonly attempt: number
  readonly kind: 'model' | 'tool'
  /** Name of the tool, or of the model's provider. */
  readonly name: string
  readonly restart: RestartClass
  /** The request as the provider gets it; absent for tools. */
  readonly request?: ModelRequest
}

/** A call that starts in a process which does not know yet that the world was taken from it. */
export interface LateCall extends WatchedCall {
  readonly process: string
  /** The newest tick of the world that this process has committed, or had found when it opened it. */
  readonly committedTick: number
}

/** A change in the session pool. Each session has a unique key. */
export type PoolEvent =
  | {
      readonly type: 'entered'
      readonly key: string
      readonly place: 'first' | 'return'
      /** Whose it is; slots are shared out between tenants. @default all are of one */
      readonly tenant?: string
      /** Some worker cannot drive it for a while: others may go ahead of it. @default false */
      readonly isPassed?: boolean
    }
  | { readonly type: 'granted'; readonly key: string }
  | { readonly type: 'left'; readonly key: string }

/** What the board of several processes does with workers and sessions. */
export type BoardEvent =
  /** A worker has said that it lives. */
  | { readonly type: 'heard'; readonly worker: string; readonly atMs: number }
  /** It is thought dead although it lives, until it is heard again. */
  | { readonly type: 'suspected'; readonly worker: string }
  /** Its process has ended. */
  | { readonly type: 'gone'; readonly worker: string }
  | { readonly type: 'given'; readonly session: string; readonly worker: string }
  /** A session or a root world is taken from a worker that is thought dead. */
  | { readonly type: 'taken'; readonly what: string; readonly worker: string; readonly atMs: number }
  /** Its worker lets go of a session in an orderly way, or has held it for long: nobody has died of it. */
  | { readonly type: 'released'; readonly session: string }
  /** A session is driven no more, since its workers have died of it. */
  | { readonly type: 'given-up'; readonly session: string }

/** A letter as it is sent: `line` is what it says. */
export interface WatchedLetter {
  readonly world: string
  readonly line: string
  readonly id?: string | undefined
}

/** What the store that several processes share has done, in order. */
export type StoreEvent =
  | { readonly type: 'opened'; readonly world: string; readonly worker: string; readonly epoch: number }
  | {
      readonly type: 'committed'
      readonly world: string
      readonly worker: string
      readonly epoch: number
      /** The tick, if this is one. */
      readonly step: DrivenStep | undefined
      /** Letters that are gone with this. */
      readonly taken: readonly { readonly number: number; readonly line: string }[]
      readonly sent: readonly WatchedLetter[]
    }
  /** A letter was sent by itself. */
  | { readonly type: 'posted'; readonly letter: WatchedLetter }

/** What lies in the store when all is over. */
export interface AtRest {
  readonly worlds: readonly {
    readonly name: string
    readonly isHeld: boolean
    /** It needs no holder any more. */
    readonly hasEnded: boolean
    readonly wakeAtMs: number | undefined
    readonly letters: readonly { readonly number: number; readonly line: string }[]
  }[]
  /** Milliseconds since 1970. */
  readonly dateMs: number
}

/** How a law was broken, as a sentence; `undefined`: it holds. */
export type Finding = string | undefined

/** What a law observes during one run. A check should cost what a tick changes, not the size of the world. */
export interface LawWatch {
  /** A world is created, or restored from its store after a crash. */
  readonly began?: (world: WatchedWorld) => Finding
  readonly ticked?: (tick: WatchedTick) => Finding
  readonly ended?: (world: WatchedWorld) => Finding | void
  readonly called?: (call: WatchedCall) => Finding
  /** Several processes: one makes a call of a world that was taken from it. */
  readonly calledLate?: (call: LateCall) => Finding
  readonly pool?: (event: PoolEvent) => Finding
  /** Several processes: what is between them. */
  readonly board?: (event: BoardEvent) => Finding
  readonly store?: (event: StoreEvent) => Finding
  readonly atRest?: (rest: AtRest) => Finding
  /** A holder's World is durable. It is not driven. */
  readonly held?: (holder: World) => Finding
  readonly removed?: (holder: string) => Finding | void
  /** The process died with all its worlds; they will be restored from the store. */
  readonly crashed?: () => Finding | void
  /** The run is over: nothing is in flight or due. The final worlds, by label. */
  readonly finished?: (worlds: ReadonlyMap<string, WatchedWorld>) => Finding
}

/** Facts of the run a law observes. */
export interface RunFacts {
  readonly seed: number
  /** Cap on sessions that hold a slot at once. */
  readonly maxSessions: number
  /** How many processes drive the worlds. */
  readonly processes: number
  /** Every tick is kept in a store, so the run survives a crash. */
  readonly isKept: boolean
  /** The option `thorough`: checks that cost as much as the run are made, too. */
  readonly isThorough: boolean
  /** States of the simulated services, by name. */
  readonly services: Readonly<Record<string, unknown>>
  /** One instance of a class, shared by the laws of this run. */
  readonly shared: <T>(kind: new () => T) => T
}

export function factsOf(run: Omit<RunFacts, 'shared'>): RunFacts {
  const made = new Map<new () => unknown, unknown>()
  return {
    ...run,
    shared<T>(kind: new () => T): T {
      if (!made.has(kind)) made.set(kind, new kind())
      return made.get(kind) as T
    },
  }
}

/** An invariant checked after each tick of a simulation. */
export interface Law {
  readonly name: string
  readonly meaning: string
  /** Ticks relevant to the law: it sees all of these, and may see others. @default all ticks */
  readonly concern?: Concern
  /** Starts to observe a run. State belongs in the closure, so that runs share none. */
  readonly watch: (run: RunFacts) => LawWatch
}

/** `false` or a sentence: the law is broken. */
export type Verdict = boolean | string | void

type OwnFacts<States> = Omit<RunFacts, 'services' | 'shared'> & { readonly services: States }

/** The checks of a custom law. A function alone is short for `{ ticked }`. */
export interface LawChecks<States = RunFacts['services']> {
  /** After each tick of each world. */
  readonly ticked?: (tick: WatchedTick & OwnFacts<States>) => Verdict
  /** Once, at the end. */
  readonly finished?: (end: OwnFacts<States> & { readonly worlds: ReadonlyMap<string, WatchedWorld> }) => Verdict
}

/**
 * A custom law. A check that throws breaks it. @param name what always holds, as a sentence @throws `invalid-argument`
 */
export function law<States extends RunFacts['services'] = RunFacts['services']>(
  name: string,
  checks: LawChecks<States> | NonNullable<LawChecks<States>['ticked']>,
): Law {
  const { ticked, finished } = checkedLaw(name, typeof checks === 'function' ? { ticked: checks } : checks)
  return {
    name,
    meaning: name,
    watch: (run) => {
      const facts = { ...run, services: run.services as States }
      return {
        ...(ticked && { ticked: (tick: WatchedTick) => found(ticked({ ...tick, ...facts })) }),
        ...(finished && {
          finished: (worlds: ReadonlyMap<string, WatchedWorld>) => found(finished({ ...facts, worlds })),
        }),
      }
    },
  }
}

function checkedLaw<States>(name: string, checks: LawChecks<States>): LawChecks<States> {
  if (typeof name !== 'string' || name.trim() === '') {
    throw misuse(`law(): its name must say what always holds, got ${describeValue(name)}.`)
  }
  const { ticked, finished } = checks ?? {}
  const given = [ticked, finished].filter((check) => check !== undefined)
  if (given.length === 0 || given.some((check) => typeof check !== 'function')) {
    const wanted = 'a function, or { ticked, finished } with a function or two'
    throw misuse(`law(): '${name}' must be checked by ${wanted}, got ${describeValue(checks)}.`)
  }
  refuseUnknownOptions(`law(): '${name}'`, checks, ['ticked', 'finished'])
  return checks
}

function found(verdict: Verdict): Finding {
  if (verdict === undefined || verdict === true) return undefined
  if (typeof verdict === 'string' && verdict !== '') return verdict
  if (verdict === false || verdict === '') return 'it does not hold'
  return rubbish(verdict)
}

function rubbish(verdict: unknown): string {
  if (verdict instanceof Promise) {
    verdict.catch(() => undefined)
    return 'the check gave a promise, and the next tick does not wait for it: check without await'
  }
  return `the check gave ${describeValue(verdict)}; expected nothing or true where the law holds, false or a sentence where it does not`
}

export interface Broken {
  readonly law: string
  readonly meaning: string
  readonly message: string
}

type Check = (about: unknown) => Finding | void

interface Asked {
  readonly law: Law
  readonly check: Check
  /** Its bit in the result of `TickChanges.look`; 0: every tick is relevant. */
  readonly concern: number
  /** How often it has looked. */
  looks: number
}

export class LawBook {
  readonly #asked: Readonly<Record<keyof LawWatch, Asked[]>> = {
    began: [],
    ticked: [],
    ended: [],
    called: [],
    calledLate: [],
    pool: [],
    board: [],
    store: [],
    atRest: [],
    held: [],
    removed: [],
    crashed: [],
    finished: [],
  }
  readonly #changes = new TickChanges()
  readonly #laws: readonly Law[]
  /** Number of checks, including those skipped because the tick was irrelevant. */
  checks = 0

  constructor(laws: readonly Law[], run: RunFacts) {
    this.#laws = laws
    for (const each of laws) {
      const watch = each.watch(run)
      const concern = each.concern === undefined ? 0 : this.#changes.bitOf(each.concern)
      for (const what of Object.keys(this.#asked) as (keyof LawWatch)[]) {
        const check = watch[what] as Check | undefined
        if (check !== undefined) this.#asked[what].push({ law: each, check, concern, looks: 0 })
      }
    }
  }

  /** How often each law has looked, by name. */
  get looks(): Readonly<Record<string, number>> {
    const counts = new Map(this.#laws.map(({ name }) => [name, 0]))
    for (const { law: asked, looks } of Object.values(this.#asked).flat())
      counts.set(asked.name, (counts.get(asked.name) ?? 0) + looks)
    return Object.fromEntries(counts)
  }

  ticked({ inSlot, label, path, world }: WatchedWorld, step: DrivenStep): Broken | undefined {
    const asked = this.#asked.ticked
    if (asked.length === 0) return undefined
    const changes = this.#changes
    const concerned = changes.look(step)
    return this.#each(asked, { world, label, path, inSlot, step, changes } satisfies WatchedTick, concerned)
  }

  ask<K extends Exclude<keyof LawWatch, 'ticked'>>(
    what: K,
    about: Parameters<NonNullable<LawWatch[K]>>[0],
  ): Broken | undefined {
    return this.#each(this.#asked[what], about, everything)
  }

  /** @param concerned bits of the laws to which the tick is relevant */
  #each(asked: readonly Asked[], about: unknown, concerned: number): Broken | undefined {
    let index = 0
    let message: Finding
    try {
      for (; index < asked.length; index++) {
        const one = asked[index] as Asked
        const { check, concern } = one
        if (concern !== 0 && (concern & concerned) === 0) continue
        one.looks++
        message = check(about) ?? undefined
        if (message !== undefined) break
      }
    } catch (error) {
      message = `the check threw: ${thrownMessage(error)}`
    }
    if (message === undefined) {
      this.checks += asked.length
      return undefined
    }
    this.checks += index + 1
    const { law: broken } = asked[index] as Asked
    return { law: broken.name, meaning: broken.meaning, message }
  }
}

const everything = -1

/** The entities whose component a tick has set, with the new values. */
export function setIn<T>(
  { step }: WatchedTick,
  token: Component & { readonly schema: { readonly _output: T } },
): readonly (readonly [Entity, T])[] {
  return (step.delta.set?.[token.name] ?? []) as readonly (readonly [Entity, T])[]
}
