import { type ChildProcess, fork } from 'node:child_process'
import { createRequire } from 'node:module'
import type { HostAnswer, HostRequest, HostSettings } from './host-program.ts'

/** How long the process may take to begin and to answer, in milliseconds of real time. */
const maxAnswerMs = 30_000

/** Without the number that is given to it. */
type Request = HostRequest extends infer Each ? (Each extends HostRequest ? Omit<Each, 'id'> : never) : never

/** Hosts by their settings: sandboxes with the same domains share one. */
const hosts = new Map<string, SandboxHost>()

/** The process that makes sandboxes has ended; another may be started. */
export class HostEnded extends Error {}

/** The process that makes sandboxes, seen from the program. It ends with its last user, and with the program. */
export class SandboxHost {
  readonly #child: ChildProcess
  readonly #key: string
  readonly #ready = Promise.withResolvers<string | undefined>()
  readonly #asked = new Map<number, PromiseWithResolvers<string>>()
  #lastId = 0
  #users = 0
  #waiting = 0
  #hasEnded = false

  /** The host of these settings, for one more user. */
  static use(settings: HostSettings): SandboxHost {
    const key = JSON.stringify(settings)
    const host = hosts.get(key) ?? new SandboxHost(key)
    hosts.set(key, host)
    host.#users++
    return host
  }

  private constructor(key: string) {
    this.#key = key
    this.#child = fork(createRequire(import.meta.url).resolve('#sandbox-host'), [key], {
      // Away from the terminal, whose signals would end it.
      detached: true,
      // What the program is run with, such as a debugger, is not for this one.
      env: { ...process.env, NODE_OPTIONS: '' },
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#child.on('message', (answer: HostAnswer) => this.#take(answer))
    this.#child.once('error', (error) => this.#ended(error.message))
    this.#child.once('exit', (code, signal) => this.#ended(`it ended (${signal ?? `exit ${code}`})`))
    this.#keepAlive()
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Why it can make no sandboxes; `undefined`: it can. */
  async problem(): Promise<string | undefined> {
    return this.#meanwhile(this.#ready.promise)
  }

  /** @throws what is in the way of it */
  async ask(request: Request): Promise<string> {
    if (this.#hasEnded) throw new HostEnded('the process that makes sandboxes has ended')
    const id = ++this.#lastId
    const answer = Promise.withResolvers<string>()
    this.#asked.set(id, answer)
    this.#child.send({ ...request, id }, (error) => {
      if (error !== null) answer.reject(new HostEnded(error.message))
    })
    try {
      return await this.#meanwhile(answer.promise)
    } finally {
      this.#asked.delete(id)
    }
  }

  /** One user less. */
  leave(): void {
    if (--this.#users > 0) return
    if (hosts.get(this.#key) === this) hosts.delete(this.#key)
    if (this.#child.connected) this.#child.disconnect()
  }

  /** Waits for an answer; only that keeps the program from ending. */
  async #meanwhile<T>(answer: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Error(`no answer within ${maxAnswerMs} ms`)), maxAnswerMs)
    this.#waiting++
    this.#keepAlive()
    try {
      return await Promise.race([answer, late.promise])
    } finally {
      clearTimeout(timer)
      this.#waiting--
      this.#keepAlive()
    }
  }

  #take(answer: HostAnswer): void {
    if (answer.type === 'ready') this.#ready.resolve(answer.problem)
    else if (answer.type === 'done') this.#asked.get(answer.id)?.resolve(answer.value)
    else this.#asked.get(answer.id)?.reject(new Error(answer.problem))
  }

  #ended(why: string): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    if (hosts.get(this.#key) === this) hosts.delete(this.#key)
    const problem = `the process that makes sandboxes cannot go on: ${why}`
    this.#ready.resolve(problem)
    for (const { reject } of this.#asked.values()) reject(new HostEnded(problem))
  }

  #keepAlive(): void {
    for (const one of [this.#child, this.#child.channel]) {
      if (this.#waiting > 0) one?.ref()
      else one?.unref()
    }
  }
}
