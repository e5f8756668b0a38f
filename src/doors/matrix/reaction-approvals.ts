import type { Clock } from '../../engine/loop/clock.ts'
import type { Decision } from '../../protocol/policy.ts'
import type { ApprovalAnswer, ApprovalCall } from '../../runtime/chat/approval.ts'
import { reasonText } from '../../runtime/policy/reason-text.ts'
import { callHint } from '../../runtime/chat/progress.ts'
import { visibleText } from '../../tools/files/clean-text.ts'
import type { Json } from '../../base/json.ts'
import type { Homeserver } from './homeserver.ts'
import { messageParts } from './message-parts.ts'
import { shortHash } from './room-record.ts'
import type { Place } from './room-sessions.ts'
import { reactionOf, readRelations, type RoomEvent } from './sync-batch.ts'

/** How long a question waits for a reaction. */
const reactionMs = 60_000
/** Characters of an argument that a question shows. */
const maxShownChars = 4_000

interface ReactionOptions {
  readonly home: Homeserver
  readonly clock: Clock
  /** Ids of the users whose reactions count. */
  readonly approvers: readonly string[]
  readonly autoApproveAsks: boolean
  /** Called when a question begins to wait: reactions must be looked for. */
  readonly onOpen?: (() => void) | undefined
}

/** A question that is answered by a reaction. */
interface OpenQuestion {
  readonly see: (event: RoomEvent) => void
}

/**
 * Asks about tool calls in their rooms: the first 👍 or 👎 of an approver decides. A question has the same transaction id after a
 * restart, so it is not posted again; a reaction on it that was made meanwhile counts.
 */
export class ReactionApprovals {
  readonly #options: ReactionOptions
  readonly #open = new Map<string, OpenQuestion>()

  constructor(options: ReactionOptions) {
    this.#options = options
  }

  /** Questions that wait. */
  get openCount(): number {
    return this.#open.size
  }

  async ask(
    { key, roomId }: Readonly<Place>,
    call: ApprovalCall,
    decision: Decision,
    signal: AbortSignal,
  ): Promise<ApprovalAnswer> {
    const { approvers, autoApproveAsks, home } = this.#options
    const isPrivate = call.dataClass === 'personal' || call.dataClass === 'credential'
    if (autoApproveAsks && !isPrivate) return { approved: true }
    if (approvers.length === 0) return { approved: false, reason: `no approval channel (${decision.reason})` }
    // The last part is the one to react to: it says how.
    let eventId = ''
    for (const [index, body] of messageParts(questionText(call, decision)).entries()) {
      const transaction = `entia-ask-${shortHash(`${key}\n${call.approval}`)}-${index}`
      eventId = await home.send(roomId, { msgtype: 'm.notice', body }, transaction)
    }
    return this.#answer(roomId, eventId, signal)
  }

  /** Looks at an event of a sync. */
  see(event: RoomEvent): void {
    const to = reactionOf(event)?.to
    if (to !== undefined) this.#open.get(to)?.see(event)
  }

  async #answer(roomId: string, eventId: string, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { clock, onOpen } = this.#options
    const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>()
    const decide = (event: RoomEvent): void => {
      const isApproved = this.#verdict(event)
      if (isApproved !== undefined) resolve({ approved: isApproved })
    }
    // Those of syncs come after those that the homeserver has already.
    let early: RoomEvent[] | undefined = []
    this.#open.set(eventId, { see: (event) => (early === undefined ? decide(event) : void early.push(event)) })
    const stopClock = clock.at(clock.now() + reactionMs, () => {
      resolve({ approved: false, reason: `no reaction within ${reactionMs / 1_000} s` })
    })
    const abort = (): void => resolve({ approved: false, reason: 'the question was taken back' })
    signal.addEventListener('abort', abort)
    onOpen?.()
    void this.#reactionsTo(roomId, eventId).then((found) => {
      for (const event of [...found, ...(early ?? [])]) decide(event)
      return (early = undefined)
    })
    try {
      return await promise
    } finally {
      stopClock()
      signal.removeEventListener('abort', abort)
      this.#open.delete(eventId)
    }
  }

  /** Reactions that were made before the question was looked after, such as during a restart. */
  async #reactionsTo(roomId: string, eventId: string): Promise<readonly RoomEvent[]> {
    const path = `/rooms/${encodeURIComponent(roomId)}/relations/${encodeURIComponent(eventId)}/m.annotation/m.reaction`
    const prefix = '/_matrix/client/v1'
    try {
      const { home } = this.#options
      return readRelations(await home.request({ method: 'GET', path, prefix, query: { dir: 'f', limit: 100 } }))
    } catch {
      // Homeservers of before Matrix 1.3 do not have it; what else fails fails elsewhere too.
      return []
    }
  }

  /** `undefined`: this does not decide. */
  #verdict(event: RoomEvent): boolean | undefined {
    const { approvers, home } = this.#options
    if (event.sender === home.userId || !approvers.includes(event.sender)) return undefined
    const [, sign] = /^(👍|👎)\p{Emoji_Modifier}?\uFE0F?$/u.exec(reactionOf(event)?.key ?? '') ?? []
    return sign === undefined ? undefined : sign === '👍'
  }
}

function questionText({ arguments: given, leadsTo = {}, tool }: ApprovalCall, { reason }: Decision): string {
  const hint = callHint(tool, given)
  // A hint may be cut; all that is approved is shown.
  const values = Object.entries(given).filter(([, value]) => value !== hint)
  const shown = values.map(([name, value]) => `${name}: ${valueText(value)}`)
  const links = Object.entries(leadsTo).map(([path, target]) => `${visibleText(path)} leads to ${visibleText(target)}`)
  return [
    `May this run? [${tool}]${hint === '' ? '' : ` ${hint}`}`,
    ...shown,
    ...links,
    `Reason: ${visibleText(reasonText(reason))}`,
    `React with 👍 to allow it, or 👎 to decline, within ${reactionMs / 1_000} s.`,
  ].join('\n')
}

function valueText(value: Json | undefined): string {
  const chars = Array.from(visibleText(typeof value === 'string' ? value : JSON.stringify(value ?? null)))
  const left = chars.length - maxShownChars
  return left <= 0 ? chars.join('') : `${chars.slice(0, maxShownChars).join('')} [${left} characters left out]`
}
