import { EntiaError } from '../../base/entia-error.ts'
import { checkOptions, count, environment, filledText, flag, listOf, type ShapesOf } from '../../base/option-shapes.ts'

/** Options of `chat`. */
export interface TerminalChatOptions {
  /** A chat to go on with: `true` for the latest of the folder, or a key or its beginning. @default a new one */
  readonly session?: true | string | undefined
  /** @default the configuration's, else 'anthropic' */
  readonly provider?: string | undefined
  /** Of the provider; or `provider/model`. @default the configuration's, else the provider's default model */
  readonly model?: string | undefined
  /** Names and categories. @default the configuration's, else ['all'] */
  readonly tools?: readonly string[] | undefined
  /** Model calls in a turn. @default the configuration's, else 50 */
  readonly maxSteps?: number | undefined
  /** The folder to work in. @default that of the process */
  readonly cwd?: string | undefined
  /** Begins in plan mode. @default false */
  readonly plan?: boolean | undefined
  /** Tools that run without asking. @default [] */
  readonly allow?: readonly string[] | undefined
  /** Shows what the model thinks. @default false */
  readonly verbose?: boolean | undefined
  /** Serves a page that shows the chat, and prints its link. @default false */
  readonly inspect?: boolean | undefined
  /** Where keys and folders are looked up. @default the environment of the process */
  readonly env?: NodeJS.ProcessEnv | undefined
}

const chatShapes: ShapesOf<TerminalChatOptions> = {
  session: { wanted: 'true, or the key of a chat', fits: (value) => value === true || filledText.fits(value) },
  provider: filledText,
  model: filledText,
  tools: listOf(filledText),
  maxSteps: count,
  cwd: filledText,
  plan: flag,
  allow: listOf(filledText),
  verbose: flag,
  inspect: flag,
  env: environment,
}

/**
 * Lets a person chat with an agent on the terminal of this process, as the command `entia chat` does. Resolves with its exit
 * code once they have left: 0, or that of a signal.
 *
 * @throws by its promise: `invalid-argument` where stdin or stdout is no terminal, and what `sessionSetup` and `openSession` throw
 */
export async function chat(options: TerminalChatOptions = {}): Promise<number> {
  checkOptions('chat', options, chatShapes)
  const { stderr, stdin, stdout } = process
  if (!stdin.isTTY || !stdout.isTTY) {
    const advice = 'Without one, use sessionSetup(options) and turn(prompt, session).'
    throw new EntiaError('invalid-argument', `chat: stdin and stdout must be a terminal. ${advice}`)
  }
  const { session, env = process.env, ...rest } = options
  const { cwd, maxSteps, model, provider, tools, allow = [], inspect = false, plan = false, verbose = false } = rest
  const resume = session === true ? '' : session
  const { chatCommand } = await import('../../cli/chat/chat-command.ts')
  const args = { cwd, maxSteps, model, provider, tools, allow, inspect, plan, resume, verbose, help: false }
  return chatCommand(args, { environment: env, stdin, stdout, stderr }).catch((error: unknown) => {
    // What the command says of its words it says of these options.
    if (!(error instanceof Error) || error.name !== 'UsageError') throw error
    throw new EntiaError('invalid-argument', `chat: ${error.message}`, {}, { cause: error })
  })
}
