import type { JsonObject } from '../../base/json.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { FileBlock, TextBlock } from '../../protocol/message.ts'
import type { Judged } from '../../protocol/policy.ts'
import type { SessionStatus } from '../../protocol/delegation.ts'
import type { Answer } from './answer.ts'

/** A piece of a turn, in the order in which it happened. */
export type AskPart<Output = unknown> =
  /** A model call of the turn begins. */
  | { readonly type: 'step'; readonly step: number }
  /** The model writes. A slow reader gets several pieces as one. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  /** Void the text and the thinking since the last part of another type: the call was cut off, and is made again or has failed. */
  | { readonly type: 'discarded' }
  | { readonly type: 'retry'; readonly attempt: number; readonly failure: Failure }
  | { readonly type: 'tool-call'; readonly callId: string; readonly tool: string; readonly arguments: JsonObject }
  /** `fraction`: from 0 to 1, where the tool reports it. A slow reader gets the newest of a call. */
  | {
      readonly type: 'tool-progress'
      readonly callId: string
      readonly message: string
      readonly fraction?: number | undefined
    }
  | {
      readonly type: 'tool-result'
      readonly callId: string
      readonly tool: string
      readonly isError: boolean
      /** What the model reads. */
      readonly result: readonly (TextBlock | FileBlock)[]
    }
  /** A call waits for a person's yes. `path`: ids of the sessions above the call, outermost first; absent for the agent's own. */
  | ({
      readonly type: 'approval-requested'
      readonly approval: string
      readonly tool: string
      readonly arguments: JsonObject
      /** Of an agent with a `Policy`, as are the further fields. */
      readonly callId?: string | undefined
      readonly path?: readonly string[]
    } & Judged)
  | {
      readonly type: 'approval-answered'
      readonly approval: string
      readonly tool: string
      readonly approved: boolean
      readonly reason?: string | undefined
      readonly path?: readonly string[]
    }
  | {
      readonly type: 'session-started'
      readonly sessionId: string
      readonly category: string
      readonly task: string
      readonly mode: 'sync' | 'background'
    }
  | {
      readonly type: 'session-ended'
      readonly sessionId: string
      readonly status: SessionStatus
      readonly success: boolean
      /** `null` where there is none, and above 8192 bytes. */
      readonly result: string | null
      readonly error: string | null
    }
  /** The step was stopped by `session.stopStep()`: what the model was writing does not count, and the next message goes on. */
  | { readonly type: 'step-stopped' }
  /** The reader was too slow, and so many parts before this one are lost to it. */
  | { readonly type: 'skipped'; readonly parts: number }
  /** The last part: the turn has ended. A turn that failed says so here, too. */
  | { readonly type: 'end'; readonly answer: Answer<Output> }
