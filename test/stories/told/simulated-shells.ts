import type { Tool, ToolContext } from 'entia'
import { builtinTools } from 'entia/runtime'
import { z } from 'zod'

/** A command: how often it prints a line, how many, and how it ends then. */
interface Program {
  readonly everyMs: number
  readonly lines: number
  readonly end: string
}

export interface SimulatedShell {
  readonly command: string
  readonly owner: string
  /** Lines are numbered over all that it prints. */
  printed: number
  /** So many were read. */
  read: number
  state: string
}

/** A call that waits for a shell. */
export interface ShellWait {
  readonly key: string
  readonly shell: SimulatedShell
  readonly withinMs: number
  readonly wake: () => void
  /** For laws: the tick of its world since which its call is over, and when it was first seen. */
  overSince?: number
  seenMs?: number
}

const declared = builtinTools({ cwd: '.', tools: ['code'] }).map(({ declaration }) => declaration)
const [start, read, stop] = declared.map(({ name }) => name)
const input = z.object({ command: z.string().default(''), id: z.string().optional(), waitMs: z.number().default(0) })

/**
 * The shell tools of the runtime as they are declared, over programs on the simulation's clock. They are those of one process: its
 * shells end with it, and a later one knows none of them.
 */
export class SimulatedShells {
  readonly shells = new Map<string, SimulatedShell>()
  readonly waits = new Set<ShellWait>()
  readonly tools: readonly Tool[]
  readonly #programs: Readonly<Record<string, Program>>
  readonly #started: string[]

  /** @param started the calls that have started a shell, of all processes */
  constructor(programs: Readonly<Record<string, Program>>, started: string[]) {
    this.#programs = programs
    this.#started = started
    this.tools = declared.map((declaration) => ({
      declaration,
      call: async (asked, context) => {
        const text = await this.#does(declaration.name, input.parse(asked), context)
        return { content: [{ type: 'text', text }] }
      },
    }))
  }

  async #does(tool: string, { command, id, waitMs }: z.infer<typeof input>, context: ToolContext): Promise<string> {
    const owner = `${context.world} ${context.agent}`
    if (tool === start) return this.#start(command, owner, context)
    const own = [...this.shells].filter(([, shell]) => shell.owner === owner)
    if (id === undefined) return own.map(([each, { state }]) => `${each} [${state}]`).join('\n')
    const shell = own.find(([each]) => each === id)?.[1]
    if (shell === undefined) return `There is no background shell '${id}'.`
    if (tool === read && shell.state === 'running' && shell.read === shell.printed) {
      await this.#news(shell, waitMs, context)
    }
    if (tool === stop) this.#end(shell, 'stopped')
    return report(id, shell)
  }

  async #start(command: string, owner: string, context: ToolContext): Promise<string> {
    const id = `sh_${this.#started.push(`${context.world} ${context.key}`)}`
    const shell: SimulatedShell = { command, owner, printed: 0, read: 0, state: 'running' }
    this.shells.set(id, shell)
    void this.#run(shell, context)
    await context.sleep(500)
    return report(id, shell)
  }

  /** It runs on behind the call that has started it, unless that is called off before it returns. */
  async #run(shell: SimulatedShell, { sleep }: ToolContext): Promise<void> {
    const { end, everyMs, lines } = this.#programs[shell.command] ?? { everyMs: 0, lines: 0, end: 'exit 127' }
    try {
      for (let line = 0; line < lines; line++) {
        await sleep(everyMs)
        if (shell.state !== 'running') return
        shell.printed++
        this.#wake(shell)
      }
      this.#end(shell, end)
    } catch {
      this.#end(shell, 'stopped')
    }
  }

  #end(shell: SimulatedShell, state: string): void {
    if (shell.state === 'running') shell.state = state
    this.#wake(shell)
  }

  #wake(shell: SimulatedShell): void {
    for (const wait of this.waits) if (wait.shell === shell) wait.wake()
  }

  /** Resolves when it prints or ends, or after that time: the call sleeps, and waits beside that. */
  async #news(shell: SimulatedShell, withinMs: number, { key, sleep }: ToolContext): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wait = { key, shell, withinMs, wake: resolve }
    this.waits.add(wait)
    try {
      await Promise.race([promise, sleep(withinMs)])
    } finally {
      this.waits.delete(wait)
    }
  }
}

function report(id: string, shell: SimulatedShell): string {
  const lines = Array.from({ length: shell.printed - shell.read }, (_, index) => `${id} line ${shell.read + index + 1}`)
  shell.read = shell.printed
  const state = shell.state === 'running' ? `running in the background as ${id}` : `${id}: ${shell.state}`
  return [...lines, `[${state}]`].join('\n')
}
