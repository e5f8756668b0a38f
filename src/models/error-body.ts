import { fieldsOf, writeJson } from './wire-values.ts'

export interface SaidError {
  readonly message: string
  /** The provider's error codes, the most specific first. */
  readonly names: readonly string[]
  /** HTTP status in the body: some servers send it as the code. */
  readonly status: number | undefined
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
    return { message: isPage ? textOfPage(trimmed) : trimmed, names: [], status: undefined, isError: !isPage }
  }
}

export function readError(body: unknown): SaidError {
  const error = innermost(body)
  const { code, type, details, error_type: other } = fieldsOf(error)
  return {
    message: messageOf(error),
    names: [fieldsOf(details)['error_code'], code, type, other].filter((name) => typeof name === 'string'),
    status: statusOf(code),
    isError: error !== body,
  }
}

/** Some servers wrap the error in `error`, `errors` or `detail`. */
function innermost(body: unknown): unknown {
  const { error, errors, detail } = fieldsOf(body)
  return error ?? (Array.isArray(errors) ? errors[0] : undefined) ?? detail ?? body
}

function messageOf(error: unknown): string {
  if (typeof error === 'string') return error
  const { message, msg } = fieldsOf(error)
  const said = message ?? msg ?? error
  return typeof said === 'string' && said !== '' ? said : writeJson(said === '' ? error : said)
}

function textOfPage(html: string): string {
  const text = html
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return text === '' ? html : text
}

function statusOf(code: unknown): number | undefined {
  const status = Number(code)
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined
}
