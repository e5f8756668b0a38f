import { type Failure, type ModelProvider, type RetryPolicy, textOf } from 'entia'

type Call = ModelProvider['call']
type Context = Parameters<Call>[1]
type Outcome = Awaited<ReturnType<Call>>

/** A model whose words a test writes, piece by piece. */
export class Pen implements ModelProvider {
  readonly retry: RetryPolicy = { maxAttempts: 3, firstDelayMs: 1, maxDelayMs: 1, kinds: ['overloaded'] }
  readonly #calls: Writing[] = []
  #wanted: ((writing: Writing) => void) | undefined

  call: Call = (request, context) => {
    const writing = new Writing(textOf(request.messages[0]), context)
    if (this.#wanted === undefined) this.#calls.push(writing)
    else this.#wanted(writing)
    this.#wanted = undefined
    return writing.outcome
  }

  /** The next call, once it is made. */
  next(): Promise<Writing> {
    const writing = this.#calls.shift()
    return writing === undefined ? new Promise((resolve) => (this.#wanted = resolve)) : Promise.resolve(writing)
  }
}

/** A call that is being answered. */
export class Writing {
  /** The first message of the conversation. */
  readonly asked: string
  readonly outcome: Promise<Outcome>
  readonly #context: Context
  readonly #settle: (outcome: Outcome) => void
  #text = ''
  #thinking = ''

  constructor(asked: string, context: Context) {
    this.asked = asked
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    this.#context = context
    this.outcome = promise
    this.#settle = resolve
    context.signal.addEventListener('abort', () => this.fail('cancelled'))
  }

  think(text: string): void {
    this.#thinking += text
    this.#context.onDelta({ type: 'thinking', text })
  }

  write(text: string): void {
    this.#text += text
    this.#context.onDelta({ type: 'text', text })
  }

  /** @param text that it did not stream */
  end(text = ''): void {
    const said = { type: 'text' as const, text: this.#text + text }
    const thought = { type: 'thinking' as const, text: this.#thinking, provider: 'pen' }
    const content = this.#thinking === '' ? [said] : [thought, said]
    this.#settle({
      ok: true,
      value: { message: { role: 'assistant', content, model: 'pen/x' }, stop: 'end', usage: {} },
    })
  }

  fail(kind: Failure['kind']): void {
    this.#settle({ ok: false, failure: { kind, message: `The pen says ${kind}.` } })
  }
}
