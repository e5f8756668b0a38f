/** What something open waits for, and the world time at which it ends by itself. */
export interface Awaited {
  readonly on: AwaitedThing
  /** Absent: no time ends it. */
  readonly untilMs?: number | undefined
}

/**
 * - `work`: what is done for it where its world is driven, such as a model call, a tool or a write; also a tool that sleeps
 * - `instant`: the next try of a call, or a timer
 * - `person`: the answer to an approval
 * - `session`: the end of a session that has begun
 * - `admission`: a session's place in the line, or budget that others have reserved
 * - `reply`: the answer of an ended session to a question
 */
export type AwaitedThing = 'work' | 'instant' | 'person' | 'session' | 'admission' | 'reply'

/** An open effect, or a tool call that something else answers: what bears on what it waits for. */
export interface OpenThing {
  /** Of its effect, if it has one. */
  readonly kind?: string | undefined
  readonly deadlineMs?: number | undefined
  /** World time of its next try. */
  readonly dueMs?: number | undefined
  readonly isRunning?: boolean | undefined
  /** What answers it, if its own effect does not. */
  readonly answeredBy?: 'person' | 'session' | 'reply' | undefined
}

/** The one judgement of what an open effect or tool call waits for. */
export function awaitedBy({ answeredBy, deadlineMs, dueMs, isRunning, kind }: OpenThing): Awaited {
  if (dueMs !== undefined) return { on: 'instant', untilMs: dueMs }
  return { on: answeredBy ?? thingOf(kind, isRunning === true), untilMs: deadlineMs }
}

function thingOf(kind: string | undefined, isRunning: boolean): AwaitedThing {
  switch (kind) {
    case 'approval':
      return 'person'
    case 'query':
      return 'reply'
    case 'session':
      return isRunning ? 'session' : 'admission'
    case 'timer':
      return 'instant'
    default:
      return 'work'
  }
}

/** Where what a world waits for happens. */
export interface WaitingPlace {
  /** Answers of people are inputs. False: a callback of this process asks. */
  readonly isAnsweredByInput: boolean
  /** Sessions are driven on their own, and tell of themselves in letters. False: this process drives them. */
  readonly hasFleet: boolean
}

/**
 * The world time at which a world has to be driven again, if no input comes first; `Infinity`: no time wakes it. `undefined`: it is
 * at work, and has to stay where it is.
 */
export function awakeAt(open: Iterable<Awaited>, { hasFleet, isAnsweredByInput }: WaitingPlace): number | undefined {
  const mayRest: Readonly<Record<AwaitedThing, boolean>> = {
    work: false,
    instant: true,
    person: isAnsweredByInput,
    session: hasFleet,
    // One that is queued is perhaps not in line yet; one that waits for budget has a letter in the box, which would wake the world.
    admission: false,
    // The World of an ended session is driven beside the one that asks.
    reply: false,
  }
  let atMs = Infinity
  for (const { on, untilMs = Infinity } of open) {
    if (!mayRest[on]) return undefined
    atMs = Math.min(atMs, untilMs)
  }
  return atMs
}

/** Does a session work on nothing while it waits for this, so that another can have its slot? The next try of a call is too near. */
export function lendsSlot({ on }: Awaited): boolean {
  return on !== 'work' && on !== 'instant'
}
