import { Serial } from '../../base/serial.ts'
import { Rewound } from '../../../components/agent/rewound.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { LastTurn } from '../../../components/agent/turn.ts'
import { EntiaError, lastText, textOf } from '../../index.ts'
import type { ApprovalAnswer, ApprovalCall, ApproveCall } from '../../runtime/chat/approval.ts'
import type { AllowedCalls } from '../../protocol/policy.ts'
import type { ChatSession } from '../../runtime/chat/chat-session.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import { partsSoFar } from '../../runtime/ask/turn-parts.ts'
import { tellMissingSandbox } from '../../runtime/sandbox/open-sandbox.ts'
import { askFiles, rewindCount, rewoundText } from './rewind-text.ts'
import { ChatStatus } from './chat-status.ts'
import { interruptedText, showCall, showTurn } from './chat-turn.ts'
import { ChatUi, type ChatUiOptions } from './chat-ui.ts'
import { clipboardPicture } from './clipboard-picture.ts'
import type { ChatSessions } from './open-chat.ts'
import { PersonCommands } from './person-command.ts'
import { Pictures } from './pictures.ts'
import { slashAction } from './slash-actions.ts'
import { serverPromptItems, serverPromptText } from './server-prompt.ts'
import { typedLine } from './slash-commands.ts'
import { saidText, userMessage } from './user-message.ts'
import { WaitingLines } from './waiting-lines.ts'

export interface ChatOptions extends Pick<
  ChatUiOptions,
  'input' | 'out' | 'look' | 'cwd' | 'history' | 'markdown' | 'suspend'
> {
  readonly sessions: ChatSessions
  /** Where the programs that read the clipboard are looked up. */
  readonly environment: NodeJS.ProcessEnv
  /** Shows a status line. */
  readonly hasStatus: boolean
  /** Shows what the model thinks. */
  readonly isVerbose: boolean
  /** Writes into the configuration that such calls of a tool are not asked about any more; gives what to say of it. */
  readonly allowAlways: (tool: string, calls: AllowedCalls) => Promise<string>
  /** Keeps a typed message for the history of later chats. */
  readonly remember: (line: string) => void
}

/** Two presses of Escape within this time are one command. */
const escapeTwiceMs = 600

/** A person's chat with an agent on a terminal, from the first prompt to the exit code. */
export class Chat {
  readonly #options: ChatOptions
  readonly #ui: ChatUi
  readonly #pictures: Pictures
  readonly #status: ChatStatus
  readonly #commands: PersonCommands
  #session: ChatSession
  /** Resolves with the exit code. */
  readonly #left = Promise.withResolvers<number>()
  #isCancelling = false
  #isLeaving = false
  #isRewinding = false
  readonly #waiting: WaitingLines
  #lastEscapeMs = -Infinity
  /** Turns that have begun, and how many of them are shown, or will be by who asked for them. */
  #begun = 0
  #shown = 0
  /** A line was typed in a turn, and no step of it has read that. */
  #isAhead = false
  /** The turn that is shown. */
  #following: Promise<unknown> = Promise.resolve()
  /** Typed lines are taken one after the other. */
  readonly #lines = new Serial()
  /** What a resumed turn had said before is on the screen: what happens now comes behind it. */
  #caughtUp: Promise<void> = Promise.resolve()
  /** Questions are put to the user one after the other. */
  readonly #questions = new Serial()

  constructor(options: ChatOptions) {
    this.#options = options
    this.#session = options.sessions.first
    this.#pictures = new Pictures(options.cwd, (text) => this.#ui.say(text, 'yellow'))
    this.#status = new ChatStatus(options.cwd)
    this.#ui = new ChatUi({
      ...options,
      onSubmit: (line, shown) => this.#take(line, shown),
      onAside: (line) => this.#aside(line),
      onEscape: () => this.#escape(),
      onInterrupt: () => this.#interrupt(),
      onQuit: () => void this.leave(0),
      onPaste: (text) => this.#pictures.pasted(text),
      status: options.hasStatus ? () => this.#status.of(this.#session) : undefined,
      commands: () => serverPromptItems(this.#session),
      onPastePicture: () => void this.#guarded(() => this.#pastePicture()),
    })
    this.#commands = new PersonCommands(this.#ui)
    this.#waiting = new WaitingLines(this.#ui, this.#pictures)
  }

  /** Puts a call to the user. Pass it to the chat sessions. */
  readonly approve: ApproveCall = (call, decision, { signal }) =>
    this.#questions.run(async (): Promise<ApprovalAnswer> => {
      await this.#caughtUp
      if (signal.aborted) return { approved: false }
      const { isAlways, ...answer } = await this.#ui.ask({ ...call, reason: decision.reason }, signal)
      if (isAlways === true) await this.#allowAlways(call)
      return answer
    })

  /** The answer holds for this chat, whether or not it can be written. */
  async #allowAlways({ rule, tool }: ApprovalCall): Promise<void> {
    const { allowAlways, cwd } = this.#options
    const written = allowAlways(tool, { ...rule, folder: cwd })
    const told = await written.catch((error: unknown) => `not written: ${toldError(error)}`)
    this.#ui.say(`  ${told}`, 'dim')
  }

  /** Runs until the user leaves; returns the exit code. */
  async run(): Promise<number> {
    this.#attend(this.#session)
    this.#greet()
    // What happens stands behind it.
    const told = tellMissingSandbox(this.#session, (line) => this.#ui.say(line, 'dim'))
    this.#caughtUp = told.catch(() => undefined)
    // What is typed meanwhile comes behind it, and is no turn that was under way.
    if (this.#options.sessions.isResumed) void this.#lines.run(() => this.#guarded(() => this.#resume()))
    return this.#left.promise
  }

  /** Stops what runs, saves, and ends the chat. @param keepTurn the turn stays open, and `--resume` goes on with it */
  async leave(exitCode: number, keepTurn = false): Promise<void> {
    if (this.#isLeaving) return
    this.#isLeaving = true
    this.#commands.stop()
    if (this.#session.isBusy) this.#ui.say('Stopping…', 'dim')
    try {
      await this.#endSession(keepTurn)
    } catch (error) {
      this.#ui.say(toldError(error), 'red')
    } finally {
      this.#ui.close()
      this.#left.resolve(exitCode)
    }
  }

  /** Tells what the user should know, such as of the configuration. */
  notice(text: string): void {
    this.#ui.say(text, 'yellow')
  }

  #take(line: string, shown: string): void {
    void this.#lines.run(() => this.#guarded(() => this.#submitted(line, shown)))
  }

  /** The question, which may hold up lines, stays open; what would ask another one waits for it. */
  #aside(line: string): void {
    const typed = typedLine(line)
    if (this.#isRewinding && typed.kind === 'command' && (typed.name === 'rewind' || typed.name === 'new'))
      return this.#ui.say('Answer the question first.', 'yellow')
    void this.#guarded(() => this.#submitted(line, line))
  }

  #greet(): void {
    const { cwd } = this.#options
    const { key, model, planMode, provider } = this.#session
    this.#ui.say(`entia · ${provider}/${model} · ${cwd}${planMode ? ' · plan mode' : ''}`, 'bold')
    const { isResumed } = this.#options.sessions
    this.#ui.say(isResumed ? `Chat ${key} goes on.` : 'Say what to do. /help lists commands, Ctrl-D leaves.', 'dim')
  }

  #attend(session: ChatSession): void {
    session.addObserver((event) => void this.#caughtUp.then(() => showCall(event, this.#ui)))
    // One that no one waits for begins when a subagent has ended, or with a line that came too late for the turn before.
    session.runner.on('turn-started', ({ agent, path }) => {
      if (path !== undefined || agent !== session.agent || session !== this.#session) return
      const turn = ++this.#begun
      void this.#following.then(() => this.#followOwn(session, turn))
    })
  }

  async #endSession(keepTurn = false): Promise<void> {
    const session = this.#session
    const { agent, key, world } = session
    await session.close({ keepTurn })
    // What was said just before is in it by now.
    if (session.history.length === 0 && !world.has(agent, Rewound)) await this.#options.sessions.forget(key)
    else this.#ui.say(`To go on with this chat: entia --resume ${key}`, 'dim')
  }

  /** Shows what was said last, and what was under way, which goes on. */
  async #resume(): Promise<void> {
    await this.#caughtUp
    const session = this.#session
    const messages = [...session.world.read(session.agent, Conversation)]
    const asked = messages.findLast(({ role }) => role === 'user')
    if (asked !== undefined) this.#ui.say(`\n› ${textOf(asked)}`, 'bold')
    if (!session.isBusy) {
      this.#ui.gap()
      this.#ui.reply(session.world.has(session.agent, LastTurn) ? lastText(session.world, session.agent) : '')
      return this.#ui.replyEnd()
    }
    this.#ui.say(interruptedText(session), 'yellow')
    // The person reads what was said before they are asked about it.
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#caughtUp = promise
    const soFar = [...partsSoFar(session.runner, session.agent)].filter(({ type }) => type !== 'approval-requested')
    let left = soFar.length
    if (left === 0) resolve()
    const shown = (): void => void (--left === 0 && resolve())
    void this.#guarded(() => this.#follow(session.attach(), shown).finally(resolve))
  }

  async #submitted(line: string, shown: string): Promise<void> {
    if (this.#isLeaving) return
    this.#options.remember(line)
    const prompt = serverPromptText(line, this.#session)
    if (prompt !== undefined) return this.#sayPrompt(prompt, shown)
    const typed = typedLine(line)
    if (typed.kind === 'message') return this.#say(typed.text, shown.startsWith('!!') ? shown.slice(1) : shown)
    this.#ui.gap()
    this.#ui.say(`› ${line}`, 'bold')
    // What is typed next need not wait for it.
    if (typed.kind === 'shell') return void this.#guarded(() => this.#commands.run(typed.command, this.#session))
    if (typed.kind === 'unknown') return this.#ui.say(typed.advice, 'yellow')
    if (typed.name === 'quit') return this.leave(0)
    if (typed.name === 'new') return this.#startAnew()
    if (typed.name === 'rewind') return this.#rewind(typed.rest)
    this.#ui.say(await slashAction(typed.name, typed.rest, this.#session))
  }

  /** Says what an MCP server has for a prompt. */
  async #sayPrompt(prompt: Promise<string>, shown: string): Promise<void> {
    try {
      await this.#say(await prompt, shown)
    } catch (error) {
      this.#ui.say((error as Error).message, 'yellow')
    }
  }

  /** @param shown the text as it was typed, without what was pasted */
  async #say(text: string, shown: string): Promise<void> {
    const session = this.#session
    const more = [...this.#pictures.of(text), ...this.#commands.take()]
    const { message, notes } = await userMessage(text, this.#options.cwd, shown, more)
    for (const note of notes) this.#ui.say(note, 'yellow')
    if (session.isBusy && !session.isStopped) {
      // It joins the open turn at its next step.
      this.#waiting.add({ text, shown, message })
      this.#isAhead = true
      session.ask(message).catch(() => undefined)
      return
    }
    this.#ui.gap()
    this.#ui.say(`› ${shown}`, 'bold')
    this.#ui.gap()
    if (session.isBusy) {
      // The turn whose step was stopped goes on, and is followed already.
      this.#ui.work('thinking')
      session.ask(message).catch(() => undefined)
      return
    }
    this.#shown = this.#begun + 1
    void this.#guarded(() => this.#follow(session.ask(message)))
  }

  /** Shows a turn, unless it is shown already. */
  #followOwn(session: ChatSession, turn: number): void {
    if (this.#isLeaving || session !== this.#session || session.isClosed || turn <= this.#shown) return
    this.#shown = this.#begun
    this.#ui.gap()
    if (!this.#isAhead) this.#ui.say('A subagent has ended: the agent goes on.', 'dim')
    void this.#guarded(() => this.#follow(session.attach()))
  }

  async #follow(asking: ReturnType<ChatSession['ask']>, onShown?: () => void): Promise<void> {
    const shown = this.#show(asking, onShown)
    this.#following = shown.catch(() => undefined)
    return shown
  }

  async #show(asking: ReturnType<ChatSession['ask']>, onShown?: () => void): Promise<void> {
    try {
      await showTurn(asking, {
        session: this.#session,
        ui: this.#ui,
        isVerbose: this.#options.isVerbose,
        onStep: () => {
          this.#isAhead = false
          this.#waiting.read()
        },
        onShown,
      })
    } finally {
      // A turn that was refused has not begun.
      this.#shown = Math.min(this.#shown, this.#begun)
      this.#isCancelling = false
      this.#waiting.read()
    }
  }

  /** Where no other can be made, this chat goes on. */
  async #startAnew(): Promise<void> {
    const next = await this.#options.sessions.another()
    try {
      await this.#endSession()
    } finally {
      this.#session = next
      this.#attend(next)
      this.#ui.say('A new chat.', 'dim')
    }
  }

  /** Takes back what was said last, and what was done since if the user wants that; the message is there to be edited. */
  async #rewind(rest: string): Promise<void> {
    const count = rewindCount(rest)
    if (count === undefined) return this.#ui.say('Write /rewind N: how many of your messages to take back, 1 or more.')
    const { cwd } = this.#options
    const session = this.#session
    if (session.isBusy) {
      await session.cancel('the user went back')
      await this.#following
    }
    const plan = await session.rewindPlan(count)
    this.#isRewinding = true
    const answer = plan.files.length === 0 ? {} : await askFiles(this.#ui, plan, cwd)
    this.#isRewinding = false
    if (answer === 'stay') return this.#ui.say('Nothing was taken back.', 'dim')
    this.#ui.say(rewoundText(await session.rewind(count, answer), cwd), 'yellow')
    const text = saidText(plan.message)
    this.#pictures.restore(plan.message, text)
    this.#ui.propose(text)
  }

  async #pastePicture(): Promise<void> {
    const found = await clipboardPicture(this.#options.environment)
    if (typeof found === 'string') this.#ui.say(found, 'yellow')
    else this.#ui.insert(this.#pictures.add(found, 'clipboard'))
  }

  /** Stops the step; twice, it goes back to the last message. */
  #escape(): void {
    const nowMs = performance.now()
    if (this.#commands.isRunning) return this.#commands.stop()
    const isTwice = nowMs - this.#lastEscapeMs < escapeTwiceMs
    this.#lastEscapeMs = nowMs
    if (isTwice && this.#ui.isEmpty) this.#goBack()
    else if (this.#session.isBusy && !this.#session.isStopped) void this.#stopStep()
  }

  #interrupt(): void {
    if (this.#commands.isRunning) return this.#commands.stop()
    if (this.#isCancelling || this.#isLeaving) this.#abandon()
    else if (this.#session.isBusy) void this.#cancel()
    else void this.leave(0)
  }

  #goBack(): void {
    this.#lastEscapeMs = -Infinity
    const hasSaid = this.#session.history.some(({ role }) => role === 'user')
    if (hasSaid) void this.#lines.run(() => this.#guarded(() => this.#rewind('')))
  }

  async #stopStep(): Promise<void> {
    this.#ui.work('stopping')
    await this.#guarded(() => this.#session.stopStep('stopped by the user'))
  }

  async #cancel(): Promise<void> {
    if (this.#isCancelling) return
    this.#isCancelling = true
    this.#ui.work('stopping (Ctrl-C again leaves at once)')
    const cancelled = (takeBack: number): Promise<number> => this.#session.cancel('cancelled by the user', { takeBack })
    await this.#guarded(() => this.#waiting.takenBack(cancelled))
    this.#isAhead = false
  }

  /** Leaves without waiting for what does not stop. */
  #abandon(): void {
    this.#isLeaving = true
    this.#ui.close()
    this.#left.resolve(130)
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof EntiaError)) {
        this.#ui.close()
        this.#left.reject(error)
      } else if (this.#isLeaving) return
      else if (error.code !== 'turn-failed' && error.code !== 'budget-spent')
        this.#ui.say(error.message.replace(/^rewind: /, ''), 'red')
    }
  }
}

/** An error of Entia's own says what to do; of any other its name counts. */
function toldError(error: unknown): string {
  return error instanceof EntiaError ? error.message : thrownMessage(error)
}
