import type { BackgroundShell } from './background-shell.ts'

/** Shells that may run at once in one chat session. */
const maxRunning = 10
/** Shells that have ended and are still known. */
const maxEnded = 50

/** A shell of the chat session, for a person. */
export interface ShellInfo {
  readonly id: string
  readonly command: string
  readonly isRunning: boolean
  /** Such as `running`, `ended`, `exit 1`. */
  readonly state: string
  /** Milliseconds of real time since it was started. */
  readonly ageMs: number
}

/** Why a shell cannot be started or found; the model reads it. */
export class ShellRefused extends Error {
  override readonly name = 'ShellRefused'
}

/**
 * Shells that run on behind a call of `bash`, for the agents of one chat session. They end with this object, and with the
 * program: after a restart none of them is known.
 */
export class BackgroundShells {
  /** In the order of their start. */
  readonly #shells = new Map<string, BackgroundShell>()
  #isClosed = false

  /** @throws ShellRefused for an eleventh */
  add(id: string, start: () => BackgroundShell): BackgroundShell {
    if (this.#isClosed) throw new ShellRefused('The chat session is closed.')
    const running = [...this.#shells].filter(([, { isRunning }]) => isRunning)
    if (running.length >= maxRunning) {
      const ids = running.map(([each]) => each).join(', ')
      throw new ShellRefused(`${maxRunning} shells run in the background already: ${ids}. Stop one of them first.`)
    }
    const shell = start()
    this.#shells.set(id, shell)
    const ended = [...this.#shells].filter(([, { isRunning }]) => !isRunning)
    for (const [each] of ended.slice(0, Math.max(0, ended.length - maxEnded))) this.#shells.delete(each)
    return shell
  }

  /** @throws ShellRefused for one that this agent has not */
  find(id: string, owner: string): BackgroundShell {
    const shell = this.#shells.get(id)
    if (shell?.owner === owner) return shell
    const known = this.#of(owner).map(([each]) => each)
    const there = known.length === 0 ? 'There is none.' : `There are ${known.join(', ')}.`
    throw new ShellRefused(
      `There is no background shell '${id}'. ${there} A shell ends with the program that has started it.`,
    )
  }

  /** In the order of their start. @param owner of one agent alone */
  list(owner?: string): readonly ShellInfo[] {
    return this.#of(owner).map(([id, { ageMs, command, isRunning, state }]) => {
      return { id, command, isRunning, state, ageMs }
    })
  }

  /** Stops a shell of any agent. Resolves when all its processes have ended, with false for an unknown id. */
  async stop(id: string): Promise<boolean> {
    const shell = this.#shells.get(id)
    await shell?.stop()
    return shell !== undefined
  }

  /** Ends all shells. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#shells.values()].map((shell) => shell.stop()))
  }

  #of(owner: string | undefined): (readonly [string, BackgroundShell])[] {
    return [...this.#shells].filter(([, shell]) => owner === undefined || shell.owner === owner)
  }
}
