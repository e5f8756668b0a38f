import type {
  ElicitRequestFormParams,
  InputRequiredResult,
  RequestStateCodec,
  ServerContext,
} from '@modelcontextprotocol/server'
import type { ApprovalQuestion } from '../../engine/effects/approval-effect.ts'
import { cutText } from '../../base/cut-text.ts'
import { visibleText } from '../../tools/files/clean-text.ts'
import { deedText, reasonText } from '../../runtime/policy/reason-text.ts'
import { canonical } from '../../world/canonical.ts'
import { sha256 } from '../../base/sha256.ts'
import type { ServerCall } from './server-calls.ts'
import type { McpServerOptions } from './server-options.ts'
import type { ServerSdk } from './server-sdk.ts'

/** What a question that was put to a client was about, as the client brings it back. */
export interface AskedState {
  /** SHA-256 of all that the question showed. */
  readonly shown: string
}

/** Names the states that this server makes: a program's own tools may have others. */
const prefix = 'entia.'

/** Key of the one question in an input-required result. */
const key = 'approval'

const maxShownChars = 4_000

/** Asks the users of clients whether a call may run: by an elicitation, which ends the call; with its answer the client calls again. */
export class ServerApprovals {
  readonly #sdk: ServerSdk
  readonly #verifyState: McpServerOptions['verifyState']
  readonly #codec: RequestStateCodec<AskedState>

  /** @param verifyState reads the states of a program's own tools */
  constructor(sdk: ServerSdk, verifyState?: McpServerOptions['verifyState']) {
    this.#sdk = sdk
    this.#verifyState = verifyState
    // Of this process alone: an answer does not count for another one.
    this.#codec = sdk.createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) })
  }

  /** For the SDK: reads a state that this server has made; one of a program's own tool is left to it. */
  readonly verify = async (state: string, context: ServerContext): Promise<unknown> =>
    state.startsWith(prefix)
      ? this.#codec.verify(state.slice(prefix.length), context)
      : this.#verifyState?.(state, context)

  /** How one call is asked about. @param mayAsk the client offers elicitations */
  asking(context: ServerContext, mayAsk: boolean): Asking {
    const { inputResponses, requestState } = context.mcpReq
    const state: unknown = requestState()
    const given = this.#sdk.inputResponse(inputResponses, key)
    const shownBefore = isAskedState(state) && given.kind === 'elicit' ? state.shown : undefined
    let open: ApprovalQuestion | undefined
    return {
      approve: (question) => {
        const { dataClass, decision } = question
        if (!mayAsk) return { approved: false, reason: `no approval channel (${decision?.reason ?? question.tool})` }
        // No answer of a client counts as a person's.
        if (dataClass === 'credential') return { approved: false, reason: 'credentials are not given to MCP clients' }
        if (given.kind === 'elicit' && shownBefore === shownHash(question)) return answerOf(given)
        open = question
        return { approved: false, reason: 'the client was asked' }
      },
      question: async () => {
        if (open === undefined) return undefined
        const { inputRequired } = this.#sdk
        const minted = await this.#codec.mint({ shown: shownHash(open) }, context)
        return inputRequired({
          inputRequests: { [key]: inputRequired.elicit({ message: textOf(open), requestedSchema }) },
          requestState: prefix + minted,
        })
      },
    }
  }
}

export interface Asking {
  readonly approve: ServerCall['approve']
  /** The elicitation for the call, if its answer is missing. Ask for it once the call has ended. */
  readonly question: () => Promise<InputRequiredResult | undefined>
}

const requestedSchema: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: {
    approve: { type: 'boolean', title: 'Run it', description: 'Whether this call may run, once.', default: false },
    reason: { type: 'string', title: 'Reason', description: 'Words for the model, if it may not run.' },
  },
  required: ['approve'],
}

/** Facts that change between the question and the answer make it another question. */
function shownHash({ arguments: given, dataClass, decision, operation, paths, tool }: ApprovalQuestion): string {
  const shown = { arguments: given, dataClass: dataClass ?? null, decision: decision ?? null, tool }
  return sha256(
    JSON.stringify(canonical({ ...shown, operation: operation ?? null, paths: paths ?? [] }, () => 'a question')),
  )
}

function textOf({ arguments: given, dataClass, decision, operation, tool }: ApprovalQuestion): string {
  const text = visibleText(JSON.stringify(given, undefined, 2))
  const cut =
    text.length > maxShownChars
      ? `${cutText(text, maxShownChars)}\n[${text.length - maxShownChars} more characters]`
      : text
  const deed = operation === 'unknown' ? '' : deedText(operation, dataClass)
  const what = deed === '' ? '' : ` (${deed})`
  const why = decision === undefined ? '' : `\nReason: ${visibleText(reasonText(decision.reason))}`
  return `May ${tool}${what} run?\n${cut}${why}`
}

/** Anything but a clear yes is a no. */
function answerOf({
  action,
  content,
}: {
  readonly action: string
  readonly content?: Readonly<Record<string, unknown>>
}) {
  if (action !== 'accept')
    return { approved: false, reason: action === 'cancel' ? 'the question was dismissed' : undefined }
  const { approve, reason } = content ?? {}
  return {
    approved: approve === true,
    reason: typeof reason === 'string' && reason.trim() !== '' ? reason : undefined,
  }
}

function isAskedState(state: unknown): state is AskedState {
  return typeof state === 'object' && state !== null && 'shown' in state && typeof state.shown === 'string'
}
