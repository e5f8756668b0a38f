import { randomUUID } from 'node:crypto'
import { setTimeout as passed } from 'node:timers/promises'
import type { UserMessage } from '../../index.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import type { ChatSession } from '../../runtime/chat/chat-session.ts'
import type { ChatUi } from './chat-ui.ts'

type Block = UserMessage['content'][number]

/** Longest run, in milliseconds of real time. */
const timeoutMs = 600_000
/** Most lines of output that the screen shows, half of them from its end; the model gets what the tool gives. */
const maxLinesShown = 200

/**
 * Commands that the user runs, with the agent's shell tool and in its working folder. No policy judges them: it is the user who
 * runs them. The agent reads of them with the user's next message.
 */
export class PersonCommands {
  readonly #ui: ChatUi
  #running: AbortController | undefined
  #told: Block[] = []

  constructor(ui: ChatUi) {
    this.#ui = ui
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Ends the command that runs. */
  stop(): void {
    this.#running?.abort()
  }

  /** What was run since the last message, for the message that is sent now. */
  take(): readonly Block[] {
    const told = this.#told
    this.#told = []
    return told
  }

  async run(command: string, session: ChatSession): Promise<void> {
    const { host } = session.runner
    const tool = host.tool('bash') ?? host.tool('cmd')
    if (tool === undefined)
      return this.#ui.say('This chat has no shell. Start one that has: entia --tools all', 'yellow')
    if (this.isRunning) return this.#ui.say('A command of yours runs already; Esc stops it.', 'yellow')
    const running = (this.#running = new AbortController())
    const { signal } = running
    const isAlone = !session.isBusy
    if (isAlone) this.#ui.work('running')
    try {
      const { content } = await tool.call(
        { command, timeoutMs },
        {
          signal,
          key: `person-${randomUUID()}`,
          attempt: 1,
          agent: session.agent,
          world: session.key,
          progress: () => undefined,
          sleep: async (durationMs) => passed(durationMs, undefined, { signal }),
          // A shell command says nothing to its world: what it prints does.
          post: async (input) => void (await session.runner.post(input)),
          message: async (message) => void (await session.runner.message(session.agent, message)),
        },
      )
      const output = content.map((block) => (block.type === 'text' ? block.text : `[${block.mediaType}]`)).join('\n')
      this.#tell(command, output)
    } catch (error) {
      this.#tell(command, signal.aborted ? '[stopped by the user]' : thrownMessage(error))
    } finally {
      this.#running = undefined
      if (isAlone && !session.isBusy) this.#ui.work(undefined)
    }
  }

  #tell(command: string, output: string): void {
    const text = `The user ran this command in a shell of the working folder:\n$ ${command}\n\nIt printed:\n${output}`
    this.#told.push({ type: 'text', text })
    const lines = output.replace(/\n$/, '').split('\n')
    const left = lines.length - maxLinesShown
    const half = left > 0 ? maxLinesShown / 2 : lines.length
    this.#ui.say(lines.slice(0, half).join('\n'))
    if (left > 0) {
      this.#ui.say(`… ${left} lines are left out`, 'dim')
      this.#ui.say(lines.slice(-half).join('\n'))
    }
    this.#ui.say('(The agent reads this with your next message.)', 'dim')
  }
}
