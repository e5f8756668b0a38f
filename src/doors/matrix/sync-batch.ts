import { z } from 'zod'
import { lazily } from '../../base/lazily.ts'

/** What a sync says, as far as it matters here. */
export interface SyncBatch {
  /** Where the next sync begins. */
  readonly next: string
  readonly rooms: readonly SyncRoom[]
  readonly invitations: readonly Invitation[]
}

export interface SyncRoom {
  readonly id: string
  /** Oldest first; from the account's own joining on. */
  readonly events: readonly RoomEvent[]
  /** Events are missing in front of them, which end here. */
  readonly gapEnd?: string | undefined
  readonly name?: string | undefined
  readonly isEncrypted: boolean
}

export interface RoomEvent {
  readonly id: string
  readonly type: string
  readonly sender: string
  readonly content: Readonly<Record<string, unknown>>
}

export interface Invitation {
  readonly roomId: string
  readonly sender: string
}

/** Asks for no more than is read here. */
export const syncFilter = JSON.stringify({
  presence: { not_types: ['*'] },
  account_data: { not_types: ['*'] },
  room: {
    timeline: {
      limit: 100,
      types: [
        'm.room.message',
        'm.reaction',
        'm.room.encrypted',
        'm.room.encryption',
        'm.room.member',
        'm.room.name',
        'm.room.canonical_alias',
      ],
    },
    state: { types: ['m.room.encryption', 'm.room.name', 'm.room.canonical_alias'] },
    ephemeral: { not_types: ['*'] },
    account_data: { not_types: ['*'] },
  },
})

const Content = lazily(() => z.record(z.string(), z.unknown()))
const Event = lazily(() =>
  z.object({
    event_id: z.string(),
    type: z.string(),
    sender: z.string(),
    content: Content(),
    state_key: z.string().optional(),
    unsigned: z.object({ prev_content: Content().optional(), redacted_because: z.unknown() }).partial().optional(),
  }),
)
type Event = z.infer<ReturnType<typeof Event>>
const Events = lazily(() => z.object({ events: z.array(z.unknown()) }).partial())
const Sync = lazily(() =>
  z.object({
    next_batch: z.string().min(1),
    rooms: z
      .object({
        join: z.record(
          z.string(),
          z
            .object({
              timeline: Events().extend({ limited: z.boolean().optional(), prev_batch: z.string().optional() }),
              state: Events(),
            })
            .partial(),
        ),
        invite: z.record(z.string(), z.object({ invite_state: Events() }).partial()),
      })
      .partial()
      .optional(),
  }),
)
/** Of an invitation: events that lack their ids. */
const Membership = lazily(() =>
  z.object({ type: z.literal('m.room.member'), sender: z.string(), state_key: z.string(), content: Content() }),
)

/** `undefined` for an answer that is none. Events that cannot be read are left out. */
export function readSync(answer: unknown, userId: string): SyncBatch | undefined {
  const read = Sync().safeParse(answer)
  if (!read.success) return undefined
  const { next_batch: next, rooms = {} } = read.data
  return {
    next,
    rooms: Object.entries(rooms.join ?? {}).map(([id, { state = {}, timeline = {} }]) => {
      const { events: given = [], limited = false, prev_batch: gapEnd } = timeline
      const { events, hasJoined } = sinceJoining(readEvents(given), userId)
      const all = [...readEvents(state.events ?? []), ...events]
      return {
        id,
        events: events.filter(isKept).map(roomEvent),
        ...(limited && !hasJoined && { gapEnd }),
        name: nameIn(all),
        isEncrypted: all.some(({ type }) => type === 'm.room.encryption'),
      }
    }),
    invitations: Object.entries(rooms.invite ?? {}).flatMap(([roomId, { invite_state: state = {} }]) => {
      const found = (state.events ?? [])
        .map((event) => Membership().safeParse(event).data)
        .find((event) => event?.state_key === userId && event.content['membership'] === 'invite')
      return found === undefined ? [] : [{ roomId, sender: found.sender }]
    }),
  }
}

const Page = lazily(() => z.object({ chunk: z.array(z.unknown()), end: z.string() }).partial())

/** A page of a room's messages, newest first in the answer: its events, oldest first, and where the one before it ends. */
export function readPage(
  answer: unknown,
  userId: string,
): { readonly events: readonly RoomEvent[]; readonly end: string | undefined } {
  const { chunk = [], end } = Page().safeParse(answer).data ?? {}
  const { events, hasJoined } = sinceJoining(readEvents(chunk.toReversed()), userId)
  return { events: events.filter(isKept).map(roomEvent), end: hasJoined ? undefined : end }
}

/** Events that relate to another, in the order of the answer. */
export function readRelations(answer: unknown): readonly RoomEvent[] {
  const { chunk = [] } = Page().safeParse(answer).data ?? {}
  return readEvents(chunk).filter(isKept).map(roomEvent)
}

function readEvents(given: readonly unknown[]): Event[] {
  return given.flatMap((event) => Event().safeParse(event).data ?? [])
}

/** What was said before the account joined is history to it. */
function sinceJoining(events: readonly Event[], userId: string) {
  const at = events.findLastIndex(
    ({ content, state_key, type, unsigned }) =>
      type === 'm.room.member' &&
      state_key === userId &&
      content['membership'] === 'join' &&
      unsigned?.prev_content?.['membership'] !== 'join',
  )
  return { events: events.slice(at + 1), hasJoined: at !== -1 }
}

function isKept({ unsigned }: Event): boolean {
  return unsigned?.redacted_because === undefined
}

function roomEvent({ content, event_id: id, sender, type }: Event): RoomEvent {
  return { id, type, sender, content }
}

function nameIn(events: readonly Event[]): string | undefined {
  const named = (type: string, key: string): string | undefined => {
    const name = events.findLast((event) => event.type === type)?.content[key]
    return typeof name === 'string' && name.trim() !== '' ? name : undefined
  }
  return named('m.room.name', 'name') ?? named('m.room.canonical_alias', 'alias')
}

/** The text of a message that is to be answered; `undefined` for any other event. */
export function textOfMessage({ content, type }: RoomEvent): string | undefined {
  if (type !== 'm.room.message' || content['msgtype'] !== 'm.text') return undefined
  const { body, 'm.relates_to': relation } = content
  const isEdit = Content().safeParse(relation).data?.['rel_type'] === 'm.replace'
  return isEdit || typeof body !== 'string' || body.trim() === '' ? undefined : body
}

/** What a reaction says, and to which event. */
export function reactionOf({ content, type }: RoomEvent): { readonly key: string; readonly to: string } | undefined {
  if (type !== 'm.reaction') return undefined
  const { event_id: to, key, rel_type: kind } = Content().safeParse(content['m.relates_to']).data ?? {}
  return kind === 'm.annotation' && typeof key === 'string' && typeof to === 'string' ? { key, to } : undefined
}
