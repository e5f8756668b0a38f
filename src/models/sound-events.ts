import { readError, readErrorBody, type SaidError } from './error-body.ts'
import { NoAnswer } from './no-answer.ts'
import { fieldsOf, isObject, textIn } from './wire-values.ts'

/** The SDK of OpenAI keeps the word behind which nothing comes to itself, so this says it before. */
const doneEvent = '{"choices":[],"isDone":true}'

const lineEnd = /\r\n|\n|\r(?!$)/
/** What an event with an error in it has somewhere. */
const errorWords = /^\s*\[|"error"|"status_code"/

const encoder = new TextEncoder()

/**
 * Server-sent events as the SDKs read all of them: without those that have no data, which keep a connection alive; with the name
 * that the data gives, where a server leaves it out; and whole at the end. An event that is an error, in any of the forms that
 * servers have, fails the stream with what it says.
 */
export class SoundEvents {
  readonly #decoder = new TextDecoder()
  readonly #event: PendingEvent
  #rest = ''

  /** @param headers of the response */
  constructor(headers: Headers) {
    this.#event = new PendingEvent(headers)
  }

  /** The events that end in this piece of the stream, or none. @throws NoAnswer for an error */
  take(chunk: Uint8Array): Uint8Array {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split(lineEnd)
    this.#rest = lines.pop() ?? ''
    return encoder.encode(lines.map((line) => this.#event.take(line)).join(''))
  }

  /** The event that the end of the stream ends. @throws NoAnswer for an error */
  end(): Uint8Array {
    const last = (this.#rest + this.#decoder.decode()).replace(/\r$/, '')
    return encoder.encode(this.#event.take(last) + this.#event.take(''))
  }
}

/** An event while its lines come. */
class PendingEvent {
  readonly #headers: Headers
  #name = ''
  #data: string[] = []

  constructor(headers: Headers) {
    this.#headers = headers
  }

  /** @returns the event, once it is whole. @throws NoAnswer for an error */
  take(line: string): string {
    const [, field = '', value = ''] = /^([a-z]+): ?(.*)$/s.exec(line) ?? []
    if (field === 'event') this.#name = value
    else if (field === 'data') this.#data.push(value)
    // A field of its own, as llama.cpp has it.
    else if (field === 'error') {
      this.#name = 'error'
      this.#data.push(value)
    } else if (line === '') return this.#whole()
    return ''
  }

  #whole(): string {
    const data = this.#data.join('\n')
    const lines = this.#data.map((line) => `data: ${line}\n`).join('')
    const name = this.#name
    this.#name = ''
    this.#data = []
    if (data.trim() === '') return ''
    if (data.trim() === '[DONE]') return `data: ${doneEvent}\n\ndata: [DONE]\n\n`
    const said = errorIn(name, data)
    if (said !== undefined) throw new NoAnswer({ ...said, headers: this.#headers })
    const known = name === '' ? typeOf(data) : name
    return `${known === '' ? '' : `event: ${known}\n`}${lines}\n`
  }
}

function errorIn(name: string, data: string): SaidError | undefined {
  const isNamed = name === 'error'
  if (!isNamed && !errorWords.test(data)) return undefined
  const body = parsed(data)
  if (body === undefined) return isNamed ? readErrorBody(data) : undefined
  const { base_resp: outcome, error, object, type } = fieldsOf(Array.isArray(body) ? body[0] : body)
  const isError = [object, type].includes('error') || isObject(error) || textIn(error) !== ''
  // MiniMax gives each chunk a status.
  const { status_code: status } = fieldsOf(outcome)
  return isNamed || isError || (typeof status === 'number' && status !== 0) ? readError(body) : undefined
}

function typeOf(data: string): string {
  const type = data.includes('"type"') ? textIn(fieldsOf(parsed(data))['type']) : ''
  return /^[a-z._]+$/.test(type) ? type : ''
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
