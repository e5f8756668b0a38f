import { Approval } from '../../components/agent/tool-call.ts'
import { openApprovalsIn } from '../engine/children/open-approvals.ts'
import type { StandardInput } from '../protocol/input.ts'
import { Llm } from '../../components/agent/llm.ts'
import type { Clock } from '../engine/loop/clock.ts'
import type { RunnerEvent, TickEvent } from '../engine/loop/events.ts'
import { thrownMessage } from '../base/thrown-message.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import type { Arrivals } from './arrivals.ts'
import type { Chance } from './chance.ts'
import type { Fault } from './fault.ts'
import type { FaultPlan } from './fault-plan.ts'
import type { RunRecorder } from './run-recorder.ts'
import { actFault, type Deed, type SimulatedUser, type UserAct, type UserBehaviour } from './simulated-user.ts'
import { inSimulation, type RealUse } from './real-use.ts'

interface SimulatedUsersParts {
  readonly users: Readonly<Record<string, SimulatedUser>>
  readonly arrivals: Arrivals
  readonly chance: Chance
  readonly plan: FaultPlan
  readonly clock: Clock
  /** Posts an input, once under an id, as said of a world: its own, or that of a session. Resolves once it is committed. */
  readonly post: (input: StandardInput, id: string, of: string) => Promise<void>
  /** Changes the root world, above the one named. Resolves once that is committed, or the change has thrown. */
  readonly change: (change: (world: World) => void, of: string) => Promise<void>
  readonly recorder: RunRecorder
  readonly textOf: (event: RunnerEvent) => string | undefined
  readonly usedReal: (use: RealUse) => void
}

/** Simulated users, and faults in their name. They outlive every crash, and what they do is committed once. */
export class SimulatedUsers {
  readonly #parts: SimulatedUsersParts
  /** Planned and not committed, by input id. */
  readonly #pending = new Map<string, Planned>()
  readonly #due = new Set<string>()
  /** Answers that a process would not take until they were given up: the next one asks again. */
  readonly #givenUp = new Map<string, Planned>()
  #quiet: PromiseWithResolvers<void> | undefined
  #seen = new Set<string>()
  #isUp = false
  /** Number of the current process: posts to earlier ones are lost. */
  #life = 0

  constructor(parts: SimulatedUsersParts) {
    this.#parts = parts
  }

  get isBusy(): boolean {
    return this.#pending.size > 0
  }

  /** Resolves once nothing is pending, or the Runner has refused something: it may have failed. */
  async quiet(): Promise<void> {
    if (!this.isBusy) return
    await (this.#quiet ??= Promise.withResolvers<void>()).promise
  }

  resume(): void {
    this.#isUp = true
    this.#life++
    for (const [id, planned] of this.#givenUp) {
      this.#pending.set(id, planned)
      this.#due.add(id)
    }
    this.#givenUp.clear()
    for (const id of this.#due) this.#send(id)
  }

  pause(): void {
    this.#isUp = false
  }

  /** An event of a committed tick; it may be repeated after a crash. */
  see(event: RunnerEvent): void {
    const { arrivals, plan, users } = this.#parts
    if (!('index' in event && 'tick' in event) || Object.keys(users).length === 0) return
    const place = `${event.world}/${event.tick}/${event.index}`
    if (this.#seen.has(place)) return
    this.#seen.add(place)
    for (const [name, { behaviour, reactionMs }] of Object.entries(users)) {
      const acts = this.#asked(name, behaviour, event)
      for (const [index, act] of listOf(acts).entries()) {
        const id = `${name}: ${place}/${index}`
        const deed = deedOf(act, event)
        if (deed === undefined) continue
        const afterMs = arrivals.delayMs(reactionMs, plan.next(name, 'act'), id)
        this.#plan(id, { deed, of: event.world }, afterMs, name)
      }
    }
  }

  /** A tick of the root world is committed: a fault may strike. */
  ticked(world: World): void {
    const { plan } = this.#parts
    if (!plan.has('users')) return
    const at = plan.next(world.name, 'moment')
    const fault = plan.strike('users', at, (what) => what !== 'users.approval' || approvalsOf(world).length > 0)
    if (fault === undefined) return
    this.#parts.recorder.struck(fault)
    const input = this.#accident(fault, world)
    if (input !== undefined) this.#plan(at, { deed: input, of: world.name }, 0)
  }

  #accident({ what, at }: Fault, world: World): StandardInput | undefined {
    const { chance } = this.#parts
    const agents = world.entitiesWith(Llm)
    if (agents.length === 0) return undefined
    const agent = chance.pick(agents, `${at} whom`)
    if (what === 'users.cancel') return { kind: 'cancel', agent, reason: 'Somebody changed their mind.' }
    if (what === 'users.approval') {
      const approval = chance.pick(approvalsOf(world), `${at} which`)
      return { kind: 'answer', approval, approved: chance.of(`${at} yes`) < 0.5 }
    }
    return said(agent, `By the way (${at}).`)
  }

  /** The acts of a behaviour. If it throws or returns something else, the run breaks. */
  #asked(name: string, behaviour: UserBehaviour, event: RunnerEvent): ReturnType<UserBehaviour> {
    const { textOf, usedReal } = this.#parts
    const who = `user '${name}'`
    try {
      const acts = inSimulation(
        { name: who, tell: usedReal },
        (seen) => behaviour(seen, { text: textOf(event) }),
        event,
      )
      const fault = actFault(acts)
      if (fault === undefined) return acts
      if (acts instanceof Promise) acts.catch(() => undefined)
      this.#broke(`${who} ${fault}.`)
    } catch (error) {
      this.#broke(`${who} threw: ${thrownMessage(error)}`)
    }
    return undefined
  }

  #broke(message: string): void {
    this.#parts.recorder.break('users-act', 'What simulated users do is something users can do.', message)
  }

  #plan(id: string, planned: Planned, afterMs: number, user?: string): void {
    const { clock } = this.#parts
    this.#pending.set(id, planned)
    clock.at(clock.now() + afterMs, () => {
      this.#due.add(id)
      if (user !== undefined) this.#parts.recorder.acted(user, planned.deed)
      if (this.#isUp) this.#send(id)
    })
  }

  #settle(): void {
    this.#quiet?.resolve()
    this.#quiet = undefined
  }

  /** @param tries how often the current Runner refused it */
  #send(id: string, tries = 0): void {
    const planned = this.#pending.get(id)
    if (planned === undefined) return
    const { deed, of } = planned
    const { change, clock, post } = this.#parts
    const life = this.#life
    const forget = (): void => {
      if (life !== this.#life) return
      this.#pending.delete(id)
      this.#due.delete(id)
      if (this.#pending.size === 0) this.#settle()
    }
    // A failing Runner leaves it to the next one; otherwise retry for a while.
    const refused = (): void => {
      this.#settle()
      if (tries >= maxTries) {
        if (deed.kind === 'answer' && life === this.#life) this.#givenUp.set(id, planned)
        forget()
      } else clock.at(clock.now() + againMs, () => life === this.#life && this.#isUp && this.#send(id, tries + 1))
    }
    const entered = deed.kind === 'change' ? change(deed.change, of) : post(deed, id, of)
    entered.then(forget, refused)
  }
}

interface Planned {
  readonly deed: Deed
  /** The world of the event that it answers. */
  readonly of: string
}

const maxTries = 5
const againMs = 1_000

function listOf(acts: UserAct | readonly UserAct[] | undefined): readonly UserAct[] {
  if (acts === undefined) return []
  return Array.isArray(acts) ? (acts as readonly UserAct[]) : [acts as UserAct]
}

function deedOf(act: UserAct, event: RunnerEvent): Deed | undefined {
  if ('change' in act) return { kind: 'change', change: act.change }
  const { agent, approval } = event as TickEvent & { readonly agent?: Entity; readonly approval?: string }
  if ('approve' in act) {
    const { approve: approved, reason } = act
    return approval === undefined
      ? undefined
      : { kind: 'answer', approval, approved, ...(reason !== undefined && { reason }) }
  }
  if ('cancel' in act)
    return { kind: 'cancel', agent: act.cancel, ...(act.reason !== undefined && { reason: act.reason }) }
  if ('rewind' in act) return { kind: 'rewind', agent: act.rewind, messages: act.messages ?? 1 }
  if ('stopStep' in act) return { kind: 'cancel', agent: act.stopStep, step: true }
  if ('compact' in act) {
    const focus = act.focus === undefined ? {} : { focus: act.focus }
    return { kind: 'compact', agent: act.compact, request: 'person', ...focus }
  }
  if ('checkpoint' in act) {
    const note = act.note === undefined ? {} : { note: act.note }
    return { kind: 'checkpoint', agent: act.checkpoint, request: 'person', ...note }
  }
  if ('resetCostCeiling' in act) {
    const { resetCostCeiling: whom, addSessionUsd } = act
    const more = addSessionUsd === undefined ? {} : { addSessionUsd }
    return { kind: 'cost-ceiling-reset', agent: whom, request: 'person', ...more }
  }
  const to = act.to ?? agent
  return to === undefined ? undefined : said(to, act.say)
}

function said(agent: Entity, text: string): StandardInput {
  return { kind: 'message', agent, message: { role: 'user', content: [{ type: 'text', text }] } }
}

function approvalsOf(world: World): readonly string[] {
  return openApprovalsIn(world).map((approval) => world.read(approval, Approval).id)
}
