import type { RestartClass } from '../protocol/tool-declaration.ts'
import type { DrivenStep } from '../engine/effects/host-seams.ts'
import type { ModelRequest } from '../models/port.ts'
import { refuseUnknownOptions } from '../world/known-options.ts'
import { thrownMessage } from '../rules/text/thrown-message.ts'
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

/** A change in the session pool. Each session has a unique key. */
export type PoolEvent =
  | { readonly type: 'entered'; readonly key: string; readonly place: 'first' | 'return' }
  | { readonly type: 'granted'; readonly key: string }
  | { readonly type: 'left'; readonly key: string }

/** How a law was broken, as a sentence; `undefined`: it holds. */
export type Finding = string | undefined

/** What a law observes during one run. A check should cost what a tick changes, not the size of the world. */
export interface LawWatch {
  /** A world is created, or restored from its store after a crash. */
  readonly began?: (world: WatchedWorld) => Finding
  readonly ticked?: (tick: WatchedTick) => Finding
  readonly ended?: (world: WatchedWorld) => Finding | void
  readonly called?: (call: WatchedCall) => Finding
  readonly pool?: (event: PoolEvent) => Finding
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
  /** Every tick is kept in a store, so the run survives a crash. */
  readonly isKept: boolean
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
}

export class LawBook {
  readonly #asked: Readonly<Record<keyof LawWatch, Asked[]>> = {
    began: [],
    ticked: [],
    ended: [],
    called: [],
    pool: [],
    held: [],
    removed: [],
    crashed: [],
    finished: [],
  }
  readonly #changes = new TickChanges()
  /** Number of checks, including those skipped because the tick was irrelevant. */
  checks = 0

  constructor(laws: readonly Law[], run: RunFacts) {
    for (const each of laws) {
      const watch = each.watch(run)
      const concern = each.concern === undefined ? 0 : this.#changes.bitOf(each.concern)
      for (const what of Object.keys(this.#asked) as (keyof LawWatch)[]) {
        const check = watch[what] as Check | undefined
        if (check !== undefined) this.#asked[what].push({ law: each, check, concern })
      }
    }
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
        const { check, concern } = asked[index] as Asked
        if (concern !== 0 && (concern & concerned) === 0) continue
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
