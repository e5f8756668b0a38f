import { readError } from './error-body.ts'
import { saidIn } from './no-answer.ts'
import type { ProviderError } from './provider-failure.ts'
import { reasonOf } from './streamed-call.ts'

/** Error classes of both SDKs. */
interface SdkErrors {
  readonly APIError: ErrorClass<Error & { readonly error: unknown; readonly headers: Headers | undefined }>
  readonly APIConnectionError: ErrorClass<Error>
  readonly APIConnectionTimeoutError: ErrorClass<Error>
}
type ErrorClass<E> = abstract new (...parameters: never[]) => E

export function explainedBy({ APIError, APIConnectionError, APIConnectionTimeoutError }: SdkErrors) {
  return (error: unknown): ProviderError | undefined => {
    const said = saidIn(error)
    if (said !== undefined) return said
    if (error instanceof APIConnectionTimeoutError) return { message: reasonOf(error), silent: 'timed-out' }
    if (error instanceof APIConnectionError) return { message: reasonOf(error), silent: 'unreachable' }
    return error instanceof APIError ? { ...readError(error.error), headers: error.headers } : undefined
  }
}
