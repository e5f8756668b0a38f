import { Conversation } from '../../../components/agent/conversation.ts'
import type { Message } from '../../protocol/message.ts'
import { Outcome } from '../../../components/effects/effect.ts'
import { Answering } from '../../../components/sessions/session-call.ts'
import { Notified, SubagentNotification, UnreadBy } from '../../../components/sessions/subagent-wait.ts'
import { SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import type { Entity } from '../../world/component.ts'
import type { Json } from '../../base/json.ts'
import type { Finding, Law, WatchedTick } from '../law.ts'
import { firstFinding } from './first-finding.ts'

interface Notices {
  readonly ended: Map<string, Entity>
  readonly marks: Map<Entity, 'unread' | 'read'>
  /** Ids of sessions whose end was reported in a message. */
  readonly lines: Set<string>
}

const endedLine = /^- (session-[0-9a-f]{16}) (?:succeeded|failed|cancelled)[.:]/gm

/** One notification, read once: in a message to the agent, or in an answer about the session. */
export const notifiedOnce: Law = {
  concern: {
    set: [SubagentSession, SubagentNotification],
    appended: [Conversation],
    spliced: [Conversation],
    removed: [SubagentNotification, UnreadBy],
  },
  name: 'notified-once',
  meaning:
    'A background session that succeeds, fails or times out is reported exactly once, and no other leaves a notification.',
  watch() {
    const worlds = new Map<string, Notices>()
    return {
      began({ label, world }) {
        const before = worlds.get(label)
        const notices: Notices = { ended: new Map(), marks: new Map(), lines: before?.lines ?? new Set() }
        worlds.set(label, notices)
        for (const session of world.entitiesWith(SubagentSession)) {
          const { sessionId, status } = world.read(session, SubagentSession)
          if (status !== 'queued' && status !== 'running') notices.ended.set(sessionId, session)
          const mark = world.get(session, SubagentNotification)?.state
          if (mark !== undefined) notices.marks.set(session, mark)
          if (mark === 'unread' && before?.marks.get(session) === 'read') {
            return `the notification of session ${sessionId} was read, and is unread again when its world was restored`
          }
        }
        return undefined
      },
      ticked(tick) {
        const notices = worlds.get(tick.label)
        return notices && (endings(tick, notices) ?? messages(tick, notices) ?? reading(tick, notices))
      },
    }
  },
}

function endings(tick: WatchedTick, { ended }: Notices): Finding {
  for (const [session, record] of tick.changes.of(SubagentSession).set) {
    const { sessionId, status } = record
    if (status === 'queued' || status === 'running' || ended.has(sessionId)) continue
    ended.set(sessionId, session)
    const id = tick.world.get(session, SubagentNotification)?.id
    const wanted = isWorthTelling(record) ? `${sessionId}:${status}` : undefined
    if (id === wanted) continue
    const what = wanted === undefined ? 'none' : `the notification '${wanted}'`
    return `session ${sessionId} (${record.mode}) is ${status}, which leaves ${what}, and there is ${id === undefined ? 'none' : `'${id}'`}`
  }
  return undefined
}

function isWorthTelling({ mode, notify, status }: SubagentSessionData): boolean {
  return mode === 'background' && notify !== false && status !== 'cancelled'
}

function messages(tick: WatchedTick, notices: Notices): Finding {
  const { appended, spliced } = tick.changes.ofLog(Conversation)
  const inserted = spliced.map(([agent, edits]) => [agent, edits.flatMap(([, , items]) => items)] as const)
  return firstFinding([...appended, ...inserted], ([agent, items]) => lines(tick, notices, agent, items))
}

function lines({ world }: WatchedTick, notices: Notices, agent: Entity, items: readonly unknown[]): Finding {
  let news = 0
  for (const item of items) {
    const message = item as Message
    if (message.role !== 'system') continue
    const named = message.content.flatMap(({ text }) => Array.from(text.matchAll(endedLine), ([, id = '']) => id))
    if (named.length > 0 && ++news > 1)
      return `agent ${agent} is notified of ended sessions in more than one message of a tick`
    for (const sessionId of named) {
      const session = notices.ended.get(sessionId)
      if (session === undefined) return `agent ${agent} is notified that session ${sessionId} has ended, and it has not`
      if (world.get(session, SubagentSession)?.parent !== agent)
        return `agent ${agent} is notified of session ${sessionId}, which is not its own`
      if (notices.lines.has(sessionId))
        return `agent ${agent} is notified a second time that session ${sessionId} has ended`
      if (notices.marks.get(session) === 'read')
        return `agent ${agent} is notified of session ${sessionId}, whose notification it has read before`
      if (world.get(session, SubagentNotification)?.state === 'unread')
        return `agent ${agent} is notified of session ${sessionId}, whose notification stays unread`
      notices.lines.add(sessionId)
    }
  }
  return undefined
}

function reading(tick: WatchedTick, { lines: notified, marks }: Notices): Finding {
  const { changes, world } = tick
  const notifications = changes.of(SubagentNotification)
  for (const [session, { id, state }] of notifications.set) {
    const before = marks.get(session)
    marks.set(session, state)
    const { parent, sessionId } = world.read(session, SubagentSession)
    const reader = world.get(session, UnreadBy)?.agent
    if (state === 'unread') {
      if (before === 'read') return `the notification '${id}' was read, and is unread again`
      if (reader !== parent)
        return `the notification '${id}' is unread, and does not stand among those of agent ${parent}`
      if (!world.has(parent, Notified))
        return `the notification '${id}' is unread, and agent ${parent} is not marked to be notified`
    } else {
      if (reader !== undefined) return `the notification '${id}' is read, and still stands among the unread ones`
      const isNew = before !== 'read'
      if (isNew && !notified.has(sessionId) && !isAnswered(tick, sessionId) && !isForgotten(tick, parent)) {
        return `the notification '${id}' was marked as read, and agent ${parent} was not notified of it`
      }
    }
  }
  for (const session of changes.of(UnreadBy).removed) {
    if (marks.get(session) === 'unread')
      return `the notification of session entity ${session} is unread, and was taken off the unread ones`
  }
  const [lost] = notifications.removed
  return lost === undefined ? undefined : `the notification of session entity ${lost} was taken away`
}

/** The user took back what names the session. */
function isForgotten({ step }: WatchedTick, parent: Entity): boolean {
  return step.events.some(({ agent, type }) => type === 'rewound' && agent === parent)
}

/** A call or a program got the session's result in this tick, or a call gets it once its text is loaded. */
function isAnswered({ step: { delta, inputs } }: WatchedTick, sessionId: string): boolean {
  const isIn = (value: Json | undefined): boolean => value !== undefined && JSON.stringify(value).includes(sessionId)
  const { appended, set, spliced } = delta
  if (inputs.some(({ kind }) => kind === 'collected')) return true
  const inMessages = [appended?.[Conversation.name], spliced?.[Conversation.name]]
  return [set?.[Answering.name], set?.[Outcome.name], ...inMessages].some(isIn)
}
