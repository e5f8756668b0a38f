import { type Runtime, Session } from 'node:inspector/promises'
import { Socket } from 'node:net'
import { isMainThread, workerData } from 'node:worker_threads'
import type { DescribedValue } from './described-value.ts'
import { beginning, type HandleAnswer, insideKey, openWorkspace, type ThreadData, writeWhole } from './workspace.ts'

/** What the process is asked, a line of JSON each. */
export type Request =
  /** `functions` are declared first. Behind the output of the code, `marker` is printed. */
  | {
      readonly type: 'run'
      readonly functions: string
      readonly code: string
      readonly marker: string
      readonly returnName?: string | undefined
    }
  | { readonly type: 'bind'; readonly handle: string; readonly as: 'last' | 'named' }
  | ({ readonly type: 'handle' } & HandleAnswer)

/** What it answers. */
export type Answer =
  /** Printed by the code itself, as it begins: code that was not begun may run in another process. */
  | { readonly type: 'begun' }
  | { readonly type: 'threw'; readonly problem: string }
  /** `value` is absent for `undefined`. */
  | {
      readonly type: 'done'
      readonly value?: DescribedValue | undefined
      readonly named?: DescribedValue | { readonly why: string } | undefined
    }
  | { readonly type: 'bound' }
  /** `h` wants a value. */
  | { readonly type: 'want'; readonly handle: string }
  | { readonly type: 'out-of-memory' }

/** Most memory of the process, with what is not on the heap of JavaScript. */
const maxResidentBytes = 512 * 1024 * 1024
const memoryCheckMs = 100

/** Frames of stacks and places of syntax errors name the code so. */
const sourceName = 'run_js'

/** Values that are let go at the end of a call. */
const objectGroup = 'call'

async function serve({ port, gate }: ThreadData): Promise<void> {
  const session = new Session()
  session.connectToMainThread()
  const socket = new Socket({ fd: 3, readable: true, writable: true })
  const answer = (one: Answer): void => void socket.write(`${JSON.stringify(one)}\n`)
  socket.on('error', endProcess)
  socket.on('close', endProcess)
  const check = setInterval(() => {
    if (process.memoryUsage.rss() <= maxResidentBytes) return
    clearInterval(check)
    socket.end(`${JSON.stringify({ type: 'out-of-memory' } satisfies Answer)}\n`, endProcess)
  }, memoryCheckMs)
  port.on('message', (handle: string) => answer({ type: 'want', handle }))
  const evaluator = new Evaluator(session, answer)
  // In order: a request comes only when the one before was answered.
  for await (const line of lines(socket)) {
    const request = JSON.parse(line) as Request
    if (request.type === 'handle') {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin
      port.postMessage(request)
      Atomics.store(gate, 0, 1)
      Atomics.notify(gate, 0)
    } else if (request.type === 'bind') void evaluator.bind(request.handle, request.as)
    else void evaluator.run(request)
  }
}

/** With what it has started, as long as that has not left its group. */
function endProcess(): void {
  try {
    process.kill(-process.pid, 'SIGKILL')
  } catch {
    process.kill(process.pid, 'SIGKILL')
  }
}

async function* lines(socket: Socket): AsyncGenerator<string> {
  let parts: string[] = []
  for await (const chunk of socket.setEncoding('utf8') as AsyncIterable<string>) {
    const [first = '', ...others] = chunk.split('\n')
    parts.push(first)
    for (const other of others) {
      yield parts.join('')
      parts = [other]
    }
  }
}

class Evaluator {
  readonly #session: Session
  readonly #answer: (answer: Answer) => void
  #insideId: Promise<string> | undefined

  constructor(session: Session, answer: (answer: Answer) => void) {
    this.#session = session
    this.#answer = answer
  }

  async run({ functions, code, marker, returnName }: Request & { readonly type: 'run' }): Promise<void> {
    let answer: Answer
    try {
      await this.#inside()
      if (functions !== '') await this.#evaluate(' '.repeat(beginning.length) + functions)
      const value = await this.#evaluate(beginning + code)
      const named = returnName === undefined ? undefined : await this.#named(returnName)
      answer = {
        type: 'done',
        value: value.type === 'undefined' ? undefined : await this.#take(value, 'last'),
        named,
      }
    } catch (error) {
      answer = { type: 'threw', problem: error instanceof Thrown ? error.message : String(error) }
    }
    await this.#session.post('Runtime.releaseObjectGroup', { objectGroup }).catch(() => undefined)
    writeWhole(Buffer.from(marker))
    this.#answer(answer)
  }

  async bind(handle: string, as: 'last' | 'named'): Promise<void> {
    await this.#call('bind', { value: handle }, { value: as })
    this.#answer({ type: 'bound' })
  }

  /** @throws Thrown */
  async #evaluate(code: string): Promise<Runtime.RemoteObject> {
    const parameters: Runtime.EvaluateParameterType & { readonly replMode: true } = {
      expression: `${code}\n//# sourceURL=${sourceName}`,
      replMode: true,
      awaitPromise: true,
      objectGroup,
    }
    const { result, exceptionDetails } = await this.#session.post('Runtime.evaluate', parameters)
    if (exceptionDetails !== undefined) throw await this.#thrown(result, exceptionDetails)
    return result
  }

  async #thrown(result: Runtime.RemoteObject, details: Runtime.ExceptionDetails): Promise<Thrown> {
    const { lineNumber, columnNumber, exception = result } = details
    const problem = (await this.#call<string>('problem', argumentOf(exception))) ?? 'Uncaught error'
    const isPlaced = exception.className !== 'SyntaxError' || problem.includes(`${sourceName}:`)
    const shift = lineNumber === 0 ? beginning.length : 0
    const place = `${sourceName}:${lineNumber + 1}:${columnNumber + 1 - shift}`
    return new Thrown(isPlaced ? problem : `${problem}\n    at ${place}`)
  }

  /** Looks a name up without running anything. */
  async #named(name: string): Promise<DescribedValue | { readonly why: string }> {
    const { names } = await this.#session.post('Runtime.globalLexicalScopeNames', {})
    if (names.includes(name)) {
      const value = await this.#evaluate(name).catch(() => undefined)
      if (value === undefined) return { why: 'it has no value yet' }
      return value.type === 'undefined' ? { why: 'it is undefined' } : this.#take(value, 'named')
    }
    const inside = await this.#inside()
    const { result } = await this.#session.post('Runtime.callFunctionOn', {
      objectId: inside,
      functionDeclaration: `function (name) {
        const found = this.own(name)
        if ('why' in found) return found
        return found.value === undefined ? { why: 'it is undefined' } : this.take(found.value, 'named')
      }`,
      arguments: [{ value: name }],
      returnByValue: true,
    })
    return result.value as DescribedValue | { readonly why: string }
  }

  async #take(value: Runtime.RemoteObject, as: 'last' | 'named'): Promise<DescribedValue> {
    const taken = await this.#call<DescribedValue>('take', argumentOf(value), { value: as })
    // Code may have replaced what describing a value needs.
    const { description = value.type } = value
    return taken ?? { preview: `${description} [cannot be shown]`, shape: description, isLong: false }
  }

  /** `undefined` if it throws. */
  async #call<Result>(method: string, ...args: readonly Runtime.CallArgument[]): Promise<Result | undefined> {
    const { result, exceptionDetails } = await this.#session.post('Runtime.callFunctionOn', {
      objectId: await this.#inside(),
      functionDeclaration: `function (...args) { return this.${method}(...args) }`,
      arguments: [...args],
      returnByValue: true,
    })
    return exceptionDetails === undefined ? (result.value as Result | undefined) : undefined
  }

  /** What the main thread offers, which code does not find. */
  #inside(): Promise<string> {
    return (this.#insideId ??= (async () => {
      const place = `globalThis[Symbol.for(${JSON.stringify(insideKey)})]`
      const { result } = await this.#session.post('Runtime.evaluate', { expression: place })
      await this.#session.post('Runtime.evaluate', { expression: `delete ${place}` })
      return result.objectId ?? ''
    })())
  }
}

function argumentOf({ objectId, unserializableValue, value }: Runtime.RemoteObject): Runtime.CallArgument {
  if (objectId !== undefined) return { objectId }
  if (unserializableValue !== undefined) return { unserializableValue }
  return { value: value as unknown }
}

/** The code threw; the message is what is shown. */
class Thrown extends Error {
  override readonly name = 'Thrown'
}

/**
 * The program of a process of `run_js`. Code runs in its main thread, by V8's own REPL mode. A second thread talks to the parent,
 * watches the memory, and ends the process when the parent is gone, also while the code loops.
 */
if (isMainThread) openWorkspace(import.meta.filename)
else await serve(workerData as ThreadData)
