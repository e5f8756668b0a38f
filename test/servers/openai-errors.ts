import type { HttpError, StreamError } from './loopback.ts'

interface ErrorBody {
  readonly message: string
  readonly type: string
  readonly code: string | null
  readonly param: null
}

const errors: Readonly<Record<HttpError['failure'], readonly [number, string, string | null, string]>> = {
  unauthorized: [401, 'invalid_request_error', 'invalid_api_key', 'Incorrect API key provided'],
  'invalid-request': [400, 'invalid_request_error', null, "Missing required parameter: 'messages'"],
  'context-overflow': [
    400,
    'invalid_request_error',
    'context_length_exceeded',
    'Your input is longer than the model takes',
  ],
  'too-large': [413, 'invalid_request_error', null, 'Payload too large'],
  'rate-limited': [429, 'requests', 'rate_limit_exceeded', 'Rate limit reached for requests'],
  'quota-spent': [429, 'insufficient_quota', 'insufficient_quota', 'You exceeded your current quota'],
  overloaded: [503, 'server_error', null, 'The engine is currently overloaded'],
  'bad-gateway': [502, 'server_error', null, 'Bad gateway'],
}

/** An error as both of OpenAI's protocols answer it. */
export function httpError({ failure, message }: HttpError): { status: number; body: { error: ErrorBody } } {
  const [status] = errors[failure]
  const error = errorBody(failure)
  return { status, body: { error: message === undefined ? error : { ...error, message } } }
}

/** The body of an error, as it stands in an answer and in a stream. */
export function errorBody(failure: HttpError['failure'] | StreamError['error']): ErrorBody {
  const [, type, code, message] = errors[failure]
  return { message, type, code, param: null }
}
