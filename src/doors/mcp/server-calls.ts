import { Workspace } from '../../../components/agent/handle.ts'
import { Policy } from '../../../components/agent/policy.ts'
import { Requested, ToolCall } from '../../../components/agent/tool-call.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import { handles } from '../../../systems/agent/handles.ts'
import { cancelOutsideCall, outsideCalls } from '../../../systems/agent/outside-calls.ts'
import { restart } from '../../../systems/agent/restart.ts'
import { settlement } from '../../../systems/agent/settlement.ts'
import type { ApprovalQuestion } from '../../engine/effects/approval-effect.ts'
import { Host } from '../../engine/effects/host.ts'
import type { HostOptions } from '../../engine/effects/host-options.ts'
import { toolEffect } from '../../engine/effects/tool-effect.ts'
import { listenersOf } from '../../engine/loop/listeners.ts'
import { Runner } from '../../engine/loop/runner.ts'
import { ChatTools } from '../../runtime/chat/chat-tools.ts'
import { type Observer, Observers } from '../../runtime/chat/observers.ts'
import { toolCallEvent } from '../../runtime/chat/tool-call-event.ts'
import { policyEffects, type PolicyEffectsOptions } from '../../runtime/policy/policy-effects.ts'
import { declare } from '../../tools/declare.ts'
import type { Tool, ToolOutput } from '../../tools/port.ts'
import type { DataOf, Entity } from '../../world/component.ts'
import type { JsonObject } from '../../base/json.ts'
import { World } from '../../world/world.ts'

/** What the calls of a server's clients run on. */
export interface ServerCallsOptions {
  readonly tools: readonly Tool[]
  readonly policy: DataOf<() => typeof Policy.schema>
  readonly policyFunction?: PolicyEffectsOptions['policy']
  readonly sandboxPlace?: PolicyEffectsOptions['sandbox']
  readonly host?: Omit<HostOptions, 'approve' | 'tools'> | undefined
  readonly observers: readonly Observer[]
  /** Calls at work at a time. */
  readonly maxCalls: number
}

/** A tool call of a client. */
export interface ServerCall {
  readonly tool: string
  readonly arguments: JsonObject
  readonly signal: AbortSignal
  readonly progress: (message: string, fraction: number | undefined) => void
  /** Decides at once: the world asks for the calls of a caller one after the other. */
  readonly approve: (question: ApprovalQuestion) => { readonly approved: boolean; readonly reason?: string | undefined }
}

interface Waiting extends ServerCall {
  readonly answered: PromiseWithResolvers<ToolOutput>
}

/**
 * The tool calls of a server's clients. They run in a World of their own, which has no models: each caller is an entity with
 * the policy and the tools, and a call of a client is a tool call of that entity.
 */
export class ServerCalls {
  readonly #parts: ServerCallsOptions
  readonly #world = new World({ name: 'mcp', systems: [restart, settlement, handles, outsideCalls] })
  readonly #runner: Runner
  readonly #running = new ChatTools()
  readonly #waiting = new Map<string, Waiting>()
  readonly #observers: Observers
  #started: Promise<void> | undefined
  #count = 0
  #isClosed = false

  constructor(parts: ServerCallsOptions) {
    this.#parts = parts
    const { host = {}, observers, policyFunction, sandboxPlace, tools } = parts
    const made: Host = new Host({
      ...host,
      tools,
      approve: (question) => this.#waiting.get(question.callId ?? '')?.approve(question) ?? false,
      effects: {
        ...policyEffects({ policy: policyFunction, sandbox: sandboxPlace }),
        tool: toolEffect((name) => this.#running.handler(name, made.tool(name))),
        ...host.effects,
      },
    })
    this.#runner = new Runner(this.#world, { host: made })
    this.#observers = new Observers((call, message) => {
      listenersOf.get(this.#runner)?.emit({ type: 'observer-failed', world: this.#world.name, ...call, message })
    })
    for (const observer of observers) this.#observers.add(observer)
    this.#listen()
  }

  /** Calls at work. */
  get size(): number {
    return this.#waiting.size
  }

  /** A caller: what its calls touch, and the values that they keep, are its own. */
  async addCaller(): Promise<Entity> {
    await (this.#started ??= this.#runner.start())
    const { policy, tools } = this.#parts
    return this.#runner.change((world) =>
      world.spawn(Policy(policy), ToolRegistry({ tools: declare(...tools) }), Workspace),
    )
  }

  /** Forgets a caller, with all that it has kept. Its calls are stopped. */
  async removeCaller(caller: Entity): Promise<void> {
    if (this.#isClosed) return
    await this.#runner.change((world) => {
      if (!world.exists(caller)) return
      for (const owned of world.referrers(OwnedBy, caller))
        if (world.has(owned, ToolCall)) cancelOutsideCall(world, owned)
      world.despawn(caller)
    })
  }

  /**
   * Resolves with the result as a model reads it; a call that is denied, declined, or fails is a result too.
   *
   * @throws the reason of the signal; an Error when too many calls are at work, and when the server is closed
   */
  async call(caller: Entity, call: ServerCall): Promise<ToolOutput> {
    call.signal.throwIfAborted()
    if (this.#waiting.size >= this.#parts.maxCalls) {
      throw new Error(`The server is at work on ${this.#parts.maxCalls} calls, its limit. Try again later.`)
    }
    const callId = `call_${++this.#count}`
    const waiting: Waiting = { ...call, answered: Promise.withResolvers() }
    // It may be called off before it is waited for.
    waiting.answered.promise.catch(() => undefined)
    this.#waiting.set(callId, waiting)
    try {
      const spawned = await this.#runner.change((world) =>
        world.spawn(
          ToolCall({ arguments: call.arguments, callId, name: call.tool }),
          OwnedBy({ agent: caller }),
          Requested,
        ),
      )
      return await this.#answerOf(waiting, spawned)
    } finally {
      this.#waiting.delete(callId)
    }
  }

  /** Stops all calls, and resolves once none runs any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { answered } of this.#waiting.values()) answered.reject(new Error('The server was closed.'))
    await this.#started?.catch(() => undefined)
    await this.#runner.stop()
    await this.#running.ended()
  }

  async #answerOf({ answered, signal }: Waiting, call: Entity): Promise<ToolOutput> {
    const cancel = (): void => {
      answered.reject(signal.reason as Error)
      // A Runner that was stopped has stopped the call.
      this.#runner.change((world) => cancelOutsideCall(world, call)).catch(() => undefined)
    }
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel)
    try {
      return await answered.promise
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

  #listen(): void {
    const runner = this.#runner
    runner.on('tool-answered', ({ callId, isError, result }) => {
      this.#waiting.get(callId)?.answered.resolve({ content: result, ...(isError && { isError }) })
    })
    runner.on('tool-progressed', ({ effect, fraction, message }) => {
      const callId = this.#world.get(effect, ToolCall)?.callId
      if (callId !== undefined) this.#waiting.get(callId)?.progress(message, fraction)
    })
    runner.on('call-settled', (event) => this.#observers.call(toolCallEvent(event, 'mcp')))
    runner.on('runner-failed', ({ error }) => {
      for (const { answered } of this.#waiting.values()) answered.reject(error)
    })
  }
}
