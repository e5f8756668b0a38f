import type { World } from '../../world/world.ts'

/** A session as those machines know it that may run it. Its id is unique in its root only. */
export interface SessionOrder {
  readonly root: string
  readonly sessionId: string
  /** The name of the world that has launched it. */
  readonly parent: string
  /** Ids of the sessions above and its own, outermost first. */
  readonly path: readonly string[]
  /** Its parent counts what it spends while it runs. */
  readonly reportsUsage?: boolean | undefined
}

/** Where sessions run that do not run in the process of their parent. Every call may be repeated. */
export interface SessionFleet {
  /**
   * Writes the session's World and its place in line, together, unless they are there. Resolves once they are durable.
   * @param epoch under which the world that launches it is held. A holder that was succeeded launches nothing: its successor has
   * perhaps withdrawn that session, and nobody would wait for it
   * @throws `world-fenced`
   */
  launch(order: SessionOrder, world: World, epoch: number): Promise<void>
  /** Removes a session that has no slot yet, with its World. False: it has begun, or is not there. */
  withdraw(order: SessionOrder): Promise<boolean>
  /** How many wait ahead of it for a first slot; `undefined` unless it waits for its own first. */
  position(order: SessionOrder): Promise<number | undefined>
  /** Puts a letter into the box of a world of a root, under an id. Resolves once it is durable. */
  post(letter: {
    readonly root: string
    readonly world: string
    readonly line: string
    readonly id: string
  }): Promise<void>
  /** A provider has asked one process for a pause: none calls it for so long. */
  pause(provider: string, forMs: number): Promise<void>
}
