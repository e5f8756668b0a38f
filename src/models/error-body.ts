import { collapsed } from '../base/one-line.ts'
import { retryHintIn } from './retry-hint.ts'
import { fieldsOf, isObject, textIn, writeJson } from './wire-values.ts'

export interface SaidError {
  readonly message: string
  /** The provider's error codes, the most specific first. */
  readonly names: readonly string[]
  /** HTTP status in the body: some servers send it as the code. */
  readonly status: number | undefined
  /** How long to wait, if it says so. */
  readonly retryAfterMs?: number | undefined
  /** Text, or JSON with an error in it; a web page or a finished answer is none. */
  readonly isError: boolean
}

/** Reads JSON of any form, a web page, or plain text. */
export function readErrorBody(text: string): SaidError {
  const trimmed = text.trim()
  if (trimmed === '') return { message: 'it gave no reason', names: [], status: undefined, isError: false }
  try {
    return readError(JSON.parse(trimmed))
  } catch {
    const isPage = trimmed.startsWith('<')
    const message = isPage ? textOfPage(trimmed) : trimmed
    return { message, names: [], status: undefined, retryAfterMs: retryHintIn({}, message), isError: !isPage }
  }
}

export function readError(body: unknown): SaidError {
  const error = innermost(body)
  const fields = fieldsOf(error)
  const { code, type, details, error_type: other, status, innererror, __type: exception } = fields
  const said = [fieldsOf(details)['error_code'], fieldsOf(innererror)['code'], code, type, other, status, exception]
  // Some servers put the code beside the error.
  const outer = error === body ? {} : fieldsOf(body)
  const message = messageOf(error)
  return {
    message,
    names: [...said, outer['code'], outer['type']].filter(
      (name) => typeof name === 'string' && name !== 'error',
    ) as string[],
    status: statusOf(code) ?? statusOf(status) ?? statusOf(outer['status']),
    retryAfterMs: retryHintIn({ ...outer, ...fields }, message),
    isError: error !== body,
  }
}

/** Some servers wrap the error in `error`, `errors` or `detail`, and those in a list. */
function innermost(body: unknown): unknown {
  if (Array.isArray(body) && body.length === 1 && isObject(body[0]) && 'error' in body[0]) return innermost(body[0])
  const { error, errors, detail } = fieldsOf(body)
  return error ?? (Array.isArray(errors) ? errors[0] : undefined) ?? detail ?? body
}

function messageOf(error: unknown): string {
  if (typeof error === 'string') return error
  const { message, msg, Message, metadata } = fieldsOf(error)
  const said = message ?? msg ?? Message ?? error
  // A router gives the words of the server behind it.
  const raw = textIn(fieldsOf(metadata)['raw'])
  if (typeof said === 'string' && raw !== '') return `${said}: ${raw}`
  return typeof said === 'string' && said !== '' ? said : writeJson(said === '' ? error : said)
}

function textOfPage(html: string): string {
  const text = collapsed(html.replaceAll(/<[^<>]*>/g, ' '))
  return text === '' ? html : text
}

function statusOf(code: unknown): number | undefined {
  const status = Number(code)
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined
}
