import { Ceilings } from '../../../components/money/ceilings.ts'
import { ReportedUsage, SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { newlySpent } from '../../rules/money/ledger-entry.ts'
import { canonical } from '../../world/canonical.ts'
import type { Entity } from '../../world/component.ts'
import type { Input } from '../../world/input.ts'
import type { World } from '../../world/world.ts'
import type { SessionUsage } from '../../protocol/usage.ts'
import type { Intake } from '../loop/inbox.ts'

/** A session under way, here or elsewhere. */
export interface SpendingSession {
  /** In all, as far as is known. */
  readonly usage: SessionUsage
}

const reporters = new WeakMap<World, SessionReports>()

/** Spending of running sessions, for parents with `Ceilings`. It goes into ticks that happen anyway, and causes none. */
export class SessionReports {
  readonly #world: World
  readonly #runs = new Map<Entity, SpendingSession>()

  constructor(world: World) {
    this.#world = world
  }

  begin(session: Entity, run: SpendingSession): void {
    if (!this.#world.has(this.#world.read(session, SubagentSession).parent, Ceilings)) return
    this.#runs.set(session, run)
    reporters.set(this.#world, this)
  }

  end(session: Entity): void {
    this.#runs.delete(session)
    if (this.#runs.size === 0) reporters.delete(this.#world)
  }

  news(): readonly Input[] {
    const news: Input[] = []
    for (const [session, { usage }] of this.#runs) {
      const known = this.#world.get(session, ReportedUsage)?.usage
      if (newlySpent(known, usage) === undefined) continue
      news.push(canonical({ isUnderWay: true, kind: 'session-spent', session, usage }, () => 'an input') as Input)
    }
    return news
  }
}

export function withReports(world: World, intake: Intake): Intake {
  const news = reporters.get(world)?.news() ?? []
  if (news.length === 0) return intake
  return { ...intake, entries: [...news.map((input) => ({ input })), ...intake.entries] }
}
