import { oneLine } from '../../base/one-line.ts'
import type { ApprovalQuestion, Approve } from '../../engine/effects/approval-effect.ts'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import type { World } from '../../world/world.ts'
import type { Answer } from '../../../components/agent/tool-call.ts'
import type { AllowedCalls, Channel, Decision } from '../../protocol/policy.ts'
import { cutText } from '../../base/cut-text.ts'
import { urlArguments } from '../../rules/policy/call.ts'
import { ruleFor } from '../../rules/policy/remembered.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import { shortly } from '../../base/known-options.ts'
import type { ChatCall } from './tool-call-event.ts'

/** A tool call that needs a person's yes. */
export interface ApprovalCall extends ChatCall {
  /** The same after a restart. */
  readonly approval: string
  /** The answer may be remembered for the chat session. */
  readonly mayRemember: boolean
  /** Who calls, such as `subagent explore`; absent: the agent of the chat session itself. */
  readonly by?: string | undefined
  /** The shell command that `remember: 'command'` would cover, with plain operands behind it; absent where it would cover nothing. */
  readonly commandStart?: string | undefined
  /** What `permissions.TOOL.allow` of a configuration may have so that such calls are not asked about; absent: no rule covers them. */
  readonly rule?: AllowedCalls | undefined
  /** Where path arguments lead that are links: absolute, by the paths as given. */
  readonly leadsTo?: Readonly<Record<string, string>> | undefined
}

/** A person's answer. */
export interface ApprovalAnswer {
  readonly approved: boolean
  /** What the model reads of a no. */
  readonly reason?: string | undefined
  /**
   * Also for later calls that reach no further: of this tool (`session`), or of this command with plain operands behind it
   * (`command`).
   */
  readonly remember?: 'session' | 'command' | undefined
  /** With a no: the turn ends. */
  readonly stopTurn?: boolean | undefined
}

/** Asks a person. Anything but a clear yes is a no, and so is a throw. The signal aborts when the answer is not needed any more. */
export type ApproveCall = (
  call: ApprovalCall,
  decision: Decision,
  context: { readonly signal: AbortSignal },
) => boolean | ApprovalAnswer | Promise<boolean | ApprovalAnswer>

/** The chat session whose calls are asked about. */
export interface AskedIn {
  readonly channel: () => Channel
  /** Absent until the chat session is made. */
  readonly world: () => World | undefined
}

const maxTaskChars = 40

/** Whose call it is, by the name of the World that it is made in. */
function caller(name: string, root: World | undefined): string | undefined {
  if (root === undefined || root.name === name) return undefined
  const sessions = root.entitiesWith(SubagentSession).map((session) => root.read(session, SubagentSession))
  const session = sessions.find(({ sessionId }) => sessionId === name)
  if (session === undefined) return 'a subagent of a subagent'
  // Workers have no names of their own.
  if (session.category !== 'worker') return `subagent ${session.category}`
  return `subagent ${session.sequence}: ${cutText(oneLine(session.prompt), maxTaskChars, '…')}`
}

/** How a Host asks, by a chat session's function. */
export function approveBy(ask: ApproveCall, { channel, world }: AskedIn): Approve {
  return async (question) => {
    try {
      const { decision, signal } = question
      return readAnswer(
        await ask(callOf(question, channel(), caller(question.world, world())), decision ?? byDeclaration, { signal }),
      )
    } catch (error) {
      return { approved: false, reason: `asking failed: ${thrownMessage(error)}` }
    }
  }
}

/** Of a call that no policy has judged: its tool declares that it needs an approval. */
const byDeclaration: Decision = { model: 'cloud', approval: 'ask', reason: 'the tool needs an approval' }

function callOf(question: ApprovalQuestion, channel: Channel, by: string | undefined): ApprovalCall {
  const {
    callId,
    commandStart,
    dataClass = 'public',
    id,
    leadsTo,
    mayRemember = false,
    operation = 'unknown',
    paths = [],
  } = question
  const rule = ruleFor(question)
  return {
    id: callId ?? id,
    approval: id,
    tool: question.tool,
    arguments: question.arguments,
    channel,
    paths,
    urls: urlArguments(question.arguments),
    dataClass,
    operation,
    mayRemember,
    ...(commandStart !== undefined && { commandStart }),
    ...(rule !== undefined && { rule }),
    ...(leadsTo !== undefined && { leadsTo }),
    ...(by !== undefined && { by }),
  }
}

function readAnswer(given: unknown): Answer {
  if (typeof given === 'boolean') return { approved: given }
  const { approved, reason, remember, stopTurn } = (given ?? {}) as Partial<Record<keyof ApprovalAnswer, unknown>>
  if (typeof approved !== 'boolean') {
    return { approved: false, reason: `approve() must give true, false or { approved }, got ${shortly(given)}` }
  }
  if (remember !== undefined && remember !== 'session' && remember !== 'command') {
    return { approved: false, reason: `approve() must give remember 'session' or 'command', got ${shortly(remember)}` }
  }
  return {
    approved,
    ...(typeof reason === 'string' && reason.trim() !== '' && { reason }),
    ...(remember !== undefined && { remember }),
    ...(stopTurn === true && { stopTurn }),
  }
}
