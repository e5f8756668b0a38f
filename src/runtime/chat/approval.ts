import type { Decision } from '../../protocol/policy.ts'
import type { ChatCall } from './tool-call-event.ts'

/** A tool call that needs a person's yes. */
export interface ApprovalCall extends ChatCall {
  /** The same after a restart. */
  readonly approval: string
  /** The answer may be remembered for the chat session. */
  readonly mayRemember: boolean
  /** The beginning of a shell command that `remember: 'command'` would cover; absent where it would cover nothing. */
  readonly commandStart?: string | undefined
}

/** A person's answer. */
export interface ApprovalAnswer {
  readonly approved: boolean
  /** What the model reads of a no. */
  readonly reason?: string | undefined
  /** Also for later calls: of this tool (`session`), or of commands that begin the same (`command`). */
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
