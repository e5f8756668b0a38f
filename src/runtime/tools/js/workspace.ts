import { Console } from 'node:console'
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { constants, Script } from 'node:vm'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { describeProblem, describeValue, type DescribedValue } from './described-value.ts'

/** What the thread that serves a process calls in its main thread. */
export interface Inside {
  /** Describes a value, and keeps it until the next one, so that it can be put under a handle. */
  readonly take: (value: unknown, as: 'last' | 'named') => DescribedValue
  /** Makes `h(handle)` give the value that was taken. */
  readonly bind: (handle: string, as: 'last' | 'named') => void
  readonly problem: (thrown: unknown) => string
  /** The value of a global property, which is not asked if it is a getter. */
  readonly own: (name: string) => { readonly why: string } | { readonly value: unknown }
}

/** Stands before code that runs, in its first line. */
export const beginning = '__begin();'

/** Where the thread finds `Inside`; it removes it. */
export const insideKey = 'entia.run_js'

/** What the thread gets. */
export interface ThreadData {
  readonly port: MessagePort
  readonly gate: Int32Array
}

/** The answer of the thread to `h`. */
export type HandleAnswer = { readonly json: string } | { readonly problem: string }

type MessagePort = MessageChannel['port1']

/** Makes the main thread of this process the place where code of `run_js` runs, and starts the thread that serves it. */
export function openWorkspace(program: string): void {
  const cwd = process.cwd()
  const { port1, port2 } = new MessageChannel()
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const taken: Partial<Record<'last' | 'named', unknown>> = {}
  const live = new Map<string, unknown>()
  const inside: Inside = {
    take(value, as) {
      taken[as] = value
      return describeValue(value)
    },
    bind(handle, as) {
      live.set(handle, taken[as])
    },
    problem: (thrown) => describeProblem(thrown, beginning.length),
    own(name) {
      const property = Object.getOwnPropertyDescriptor(globalThis, name)
      if (property === undefined) return { why: 'there is no such name' }
      return 'value' in property ? { value: property.value } : { why: 'it is a getter' }
    },
  }

  /** Blocks this thread while the other one asks. */
  function h(given: unknown): unknown {
    const handle = String(given)
    if (live.has(handle)) return live.get(handle)
    Atomics.store(gate, 0, 0)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin
    port1.postMessage(handle)
    Atomics.wait(gate, 0, 0)
    const answer = receiveMessageOnPort(port1)?.message as HandleAnswer
    if ('problem' in answer) throw new Error(answer.problem)
    return JSON.parse(answer.json)
  }

  // Resolves from the working folder, as a file that lies there would.
  const load = new Script('(specifier, options) => import(specifier, options)', {
    filename: join(cwd, 'run_js.js'),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  }).runInThisContext() as unknown
  const output = new Output()
  const begun = Buffer.from(`${JSON.stringify({ type: 'begun' })}\n`)
  const globals = {
    console: new Console({ stdout: output, stderr: output }),
    require: createRequire(join(cwd, 'run_js.js')),
    h,
    __import: load,
    __begin: () => writeWhole(begun, 3),
    [Symbol.for(insideKey)]: inside,
  }
  for (const name of Reflect.ownKeys(globals)) {
    const value: unknown = Reflect.get(globals, name)
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  }
  for (const name of ['stdout', 'stderr'] as const) {
    Object.defineProperty(process, name, { value: output, writable: true, configurable: true, enumerable: true })
  }
  // An error in a timer, or a rejection that is not handled, leaves the process.
  process.on('uncaughtException', (error) => output.write(`${describeProblem(error, beginning.length)}\n`))
  const thread = new Worker(program, { workerData: { port: port2, gate } satisfies ThreadData, transferList: [port2] })
  thread.once('error', (error) => {
    output.write(`${describeProblem(error, beginning.length)}\n`)
    process.exit(1)
  })
}

/** Standard output, written before the next line of code runs: a program that prints faster than it is read has to wait. */
class Output extends Writable {
  readonly fd = 1

  override _write(bytes: Buffer, _encoding: string, done: (error?: Error) => void): void {
    writeWhole(bytes)
    done()
  }
}

/** Writes to standard output or another open file, and waits for the reader where it has to. */
export function writeWhole(bytes: Buffer, file = 1): void {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let from = 0; from < bytes.length;) {
    try {
      from += writeSync(file, bytes, from)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(pause, 0, 0, 5)
    }
  }
}
