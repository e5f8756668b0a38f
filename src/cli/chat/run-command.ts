import { resolve } from 'node:path'
import type { ChatSession } from '../../runtime/chat/chat-session.ts'
import type { ToolCallEvent } from '../../runtime/chat/tool-call-event.ts'
import { callHint, observerProgress } from '../../runtime/chat/progress.ts'
import { reasonText } from '../../runtime/policy/reason-text.ts'
import { cleanName } from '../../tools/files/clean-text.ts'
import type { Answer } from '../../runtime/ask/answer.ts'
import { type Interruption, isFromOutside } from '../interruption.ts'
import type { RunArguments } from './chat-arguments.ts'
import { failureText } from './model-advice.ts'
import { openChat } from './open-chat.ts'
import { userMessage } from './user-message.ts'
import { wholePrompt } from './whole-prompt.ts'

export interface RunPlace {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly environment: NodeJS.ProcessEnv
  readonly interruption: () => Interruption
}

const exitCodes = { done: 0, failed: 1, stopped: 3, cancelled: 130 } as const

/** `entia run` and `entia -p`: one turn, without questions. Returns the exit code. @throws UsageError, EntiaError */
export async function runCommand(args: RunArguments, place: RunPlace): Promise<number> {
  const { environment, stderr } = place
  const prompt = await wholePrompt(args.prompt, place)
  const { exitCode, signal } = place.interruption()
  const cwd = resolve(args.cwd ?? '.')
  const session = await openChat({
    args,
    cwd,
    environment,
    onNotice: (notice) => void stderr.write(`entia: ${notice}\n`),
  })
  try {
    session.addObserver(observerProgress({ write: (line) => stderr.write(line) }))
    const declined: DeclinedCall[] = []
    session.addObserver((event) => void (event.outcome === 'declined' && declined.push(declinedCall(event))))
    const { message, notes } = await userMessage(prompt, cwd, args.prompt === '-' ? '' : (args.prompt ?? ''))
    for (const note of notes) stderr.write(`entia: ${note}\n`)
    const cancelled = new AbortController()
    const stop = (): void =>
      isFromOutside(exitCode()) ? void session.close({ keepTurn: true }) : cancelled.abort(signal.reason)
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    const end = await oneTurn(session, session.ask(message, { signal: cancelled.signal }), declined, args, place)
    return signal.aborted ? exitCode() : end
  } catch (error) {
    // The turn that stays open has no end here.
    if (!isFromOutside(exitCode())) throw error
    stderr.write(`entia: stopped. To go on: entia --resume ${session.key}\n`)
    return exitCode()
  } finally {
    await session.close()
  }
}

async function oneTurn(
  session: ChatSession,
  asking: ReturnType<ChatSession['ask']>,
  declined: readonly DeclinedCall[],
  { output, verbose }: RunArguments,
  { stdout, stderr }: RunPlace,
): Promise<number> {
  const line = (value: object): void => void stdout.write(`${JSON.stringify(value)}\n`)
  const { cwd, key, model, provider } = session
  const facts = { session: key, provider, model, cwd }
  if (output === 'stream-json') line({ type: 'session', ...facts })
  for await (const part of asking.parts) {
    if (verbose && part.type === 'thinking') stderr.write(part.text)
    if (part.type === 'retry') stderr.write(`entia: ${part.failure.message.replace(/\.?$/, '.')} Retrying.\n`)
    if (output === 'stream-json')
      line(part.type === 'end' ? { ...part, answer: withCost(part.answer), declined } : part)
    if (part.type !== 'end') continue
    const { answer } = part
    if (output === 'json') line({ ...facts, ...answerData(answer), declined })
    const isReply = answer.stop !== 'failed' && answer.stop !== 'cancelled' && answer.text !== ''
    if (output === 'text' && isReply) stdout.write(`${answer.text.replace(/\n$/, '')}\n`)
    if (declined.length > 0) stderr.write(`entia: ${declinedText(declined)}\n`)
    const exitCode = ended(answer, session, stderr)
    return exitCode === exitCodes.done && declined.length > 0 ? exitCodes.stopped : exitCode
  }
  return exitCodes.failed
}

/** A call that needed a yes. */
interface DeclinedCall {
  readonly tool: string
  readonly arguments: ToolCallEvent['call']['arguments']
  readonly reason: string
  /** No option gives the yes. */
  readonly isCredential: boolean
}

function declinedCall({ call, decision }: ToolCallEvent): DeclinedCall {
  const { arguments: given, dataClass, tool } = call
  return { tool, arguments: given, reason: reasonText(decision.reason), isCredential: dataClass === 'credential' }
}

function declinedText(declined: readonly DeclinedCall[]): string {
  const lines = declined.map(({ arguments: given, tool }) =>
    cleanName(`  [${tool}] ${callHint(tool, given)}`.trimEnd()),
  )
  const tools = new Set(declined.filter(({ isCredential }) => !isCredential).map(({ tool }) => tool))
  const advice = tools.size === 0 ? '' : `\nTo let them run: --allow ${[...tools].join(',')}`
  return `declined, because no one can be asked here:\n${lines.join('\n')}${advice}`
}

function answerData(answer: Answer): object {
  const { costUsd, failure, steps, stop, text: reply, toolCalls, usage } = withCost(answer)
  return { reply, stop, ...(failure && { failure }), steps, toolCalls, usage, costUsd }
}

/** JSON leaves out what is undefined: a cost that is unknown is `null`. */
function withCost(answer: Answer): Omit<Answer, 'costUsd'> & { readonly costUsd: number | null } {
  return { ...answer, costUsd: answer.costUsd ?? null }
}

/** Says on stderr why there is no good reply. */
function ended({ failure, stop }: Answer, session: ChatSession, stderr: RunPlace['stderr']): number {
  // Who has cancelled it, or closed its output, knows.
  if (failure !== undefined && stop !== 'cancelled') {
    stderr.write(`entia: ${failureText(failure, `${session.provider}/${session.model}`)}\n`)
  }
  switch (stop) {
    case 'done':
      return exitCodes.done
    case 'failed':
    case 'empty-reply':
      return exitCodes.failed
    case 'cancelled':
      return exitCodes.cancelled
    default:
      stderr.write(`entia: stopped (${stop}). To go on: entia --resume ${session.key}\n`)
      return exitCodes.stopped
  }
}
