import type { RestartClass } from '../protocol/tool-declaration.ts'
import type { DrivenStep } from '../engine/effects/host-seams.ts'
import type { ModelRequest } from '../models/port.ts'
import { refuseUnknownOptions } from '../world/known-options.ts'
import { thrownMessage } from '../rules/text/thrown-message.ts'
import type { Component, Entity } from '../world/component.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { World } from '../world/world.ts'
import { describeValue } from './describe-value.ts'
import { type Concern, TickChanges } from './tick-changes.ts'

/** A world of a run, as laws see it. */
export interface WatchedWorld {
  readonly world: World
  /** As the trace names it: `team`, or `team/1.2` for the second session of agent 1. */
  readonly label: string
  /** Ids of the sessions above and its own, outermost first; empty: the root. */
  readonly path: readonly string[]
  /** It runs in a slot of the pool: it is a session's run, and no question to one that has ended. */
  readonly inSlot: boolean
}

/** A tick that is committed, and the world right after it. */
export interface WatchedTick extends WatchedWorld {
  readonly step: DrivenStep
  /** What the tick has changed, by component. Valid until the next tick. */
  readonly changes: TickChanges
}

/** Work that is about to be done outside the world: nothing can take it back. */
export interface WatchedCall {
  /** As the trace names it. */
  readonly label: string
  readonly world: World
  readonly effect: Entity
  readonly attempt: number
  readonly kind: 'model' | 'tool'
  /** Of the tool, or of the model's provider. */
  readonly name: string
  readonly restart: RestartClass
  /** What a model is asked, as its provider gets it. Absent: it is a tool that is called. */
  readonly request?: ModelRequest
}

/** What happens in the pool from which sessions take their slots. A session is named by a key that no other has. */
export type PoolEvent =
  | { readonly type: 'entered'; readonly key: string; readonly place: 'first' | 'return' }
  | { readonly type: 'granted'; readonly key: string }
  | { readonly type: 'left'; readonly key: string }

/** What a law has to say: nothing, or in a sentence how it was broken. */
export type Finding = string | undefined

/** What a law looks at during one run, and what it remembers of it. Costs what a tick changes, not what there is. */
export interface LawWatch {
  /** A world is taken up: new, or as its store has it. Called again after a crash. */
  readonly began?: (world: WatchedWorld) => Finding
  readonly ticked?: (tick: WatchedTick) => Finding
  /** A world is let go of. */
  readonly ended?: (world: WatchedWorld) => Finding | void
  /** Work begins. */
  readonly called?: (call: WatchedCall) => Finding
  readonly pool?: (event: PoolEvent) => Finding
  /** The World of a holder is durable, or again; it is not driven. */
  readonly held?: (holder: World) => Finding
  /** What there was of a holder is removed. */
  readonly removed?: (holder: string) => Finding | void
  /** The process has died with all its worlds; what is in the store comes back. */
  readonly crashed?: () => Finding | void
  /** The run is over: nothing is in flight and nothing is due. The worlds as they were last, by label. */
  readonly finished?: (worlds: ReadonlyMap<string, WatchedWorld>) => Finding
}

/** Facts of the run that a law watches. */
export interface RunFacts {
  readonly seed: number
  /** Most sessions that hold a slot at once. */
  readonly maxSessions: number
  /** Is every tick kept in a store, from which the run goes on after a crash? */
  readonly isKept: boolean
  /** The states of the simulated services, by name. */
  readonly services: Readonly<Record<string, unknown>>
  /** The one object of a class that the laws of this run share: made for the first that asks. */
  readonly shared: <T>(kind: new () => T) => T
}

/** The facts of a run that begins. */
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

/** An invariant that is checked after each tick of a simulation. */
export interface Law {
  readonly name: string
  /** What always holds, in one line. */
  readonly meaning: string
  /** The ticks that the law has something to say of: it may see others, and misses none of these. Absent: all ticks. */
  readonly concern?: Concern
  /** Begins to watch a run. What a law remembers belongs to what this gives. */
  readonly watch: (run: RunFacts) => LawWatch
}

/** What a check says: `false` or a sentence means that the law is broken. */
export type Verdict = boolean | string | void

/** Facts for a law of your own; `States` are those of its services. */
type OwnFacts<States> = Omit<RunFacts, 'services' | 'shared'> & { readonly services: States }

/** What a law of one's own checks. A function alone is short for `{ ticked }`. */
export interface LawChecks<States = RunFacts['services']> {
  /** After each tick of each world. */
  readonly ticked?: (tick: WatchedTick & OwnFacts<States>) => Verdict
  /** Once, when all is over. */
  readonly finished?: (end: OwnFacts<States> & { readonly worlds: ReadonlyMap<string, WatchedWorld> }) => Verdict
}

/**
 * A law of one's own. What the check throws breaks the law as well, with what was thrown.
 *
 * @param name what always holds, as a sentence
 * @throws `invalid-argument`
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
    throw new EntiaError('invalid-argument', `law(): its name must say what always holds, got ${describeValue(name)}.`)
  }
  const { ticked, finished } = checks ?? {}
  const given = [ticked, finished].filter((check) => check !== undefined)
  if (given.length === 0 || given.some((check) => typeof check !== 'function')) {
    const wanted = 'a function, or { ticked, finished } with a function or two'
    throw new EntiaError(
      'invalid-argument',
      `law(): '${name}' must be checked by ${wanted}, got ${describeValue(checks)}.`,
    )
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

/** How a law was broken. */
export interface Broken {
  readonly law: string
  readonly meaning: string
  readonly message: string
}

type Check = (about: unknown) => Finding | void

interface Asked {
  readonly law: Law
  readonly check: Check
  /** Its bit in what `TickChanges.look` gives; 0: every tick concerns it. */
  readonly concern: number
}

/** The laws of one run, asked one after the other. */
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
  /** How often a law was asked. One that a tick does not concern has its answer ready, and was asked as well. */
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

  /** Asks every law that cares about ticks. The first one that was broken. */
  ticked({ inSlot, label, path, world }: WatchedWorld, step: DrivenStep): Broken | undefined {
    const asked = this.#asked.ticked
    if (asked.length === 0) return undefined
    const changes = this.#changes
    const concerned = changes.look(step)
    return this.#each(asked, { world, label, path, inSlot, step, changes } satisfies WatchedTick, concerned)
  }

  /** Asks every law that cares about such a thing. The first one that was broken. */
  ask<K extends Exclude<keyof LawWatch, 'ticked'>>(
    what: K,
    about: Parameters<NonNullable<LawWatch[K]>>[0],
  ): Broken | undefined {
    return this.#each(this.#asked[what], about, everything)
  }

  /** @param concerned bits of the laws that have something to say */
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

/** The values that a tick has set of a component, by entity. */
export function setIn<T>(
  { step }: WatchedTick,
  token: Component & { readonly schema: { readonly _output: T } },
): readonly (readonly [Entity, T])[] {
  return (step.delta.set?.[token.name] ?? []) as readonly (readonly [Entity, T])[]
}
