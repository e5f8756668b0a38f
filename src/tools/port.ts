import type { Entity } from '../world/component.ts'
import type { Json } from '../world/json.ts'
import type { FileBlock, TextBlock } from '../protocol/message.ts'
import type { ToolDeclaration } from '../protocol/tool-declaration.ts'

/** What a handler gets besides its arguments. */
export interface ToolContext {
  /** Aborted when the call is cancelled, timed out or the Runner stops. */
  readonly signal: AbortSignal
  /** Stable over restarts and resumed sessions: pass it to services as an idempotency key. */
  readonly key: string
  /** 1-based. Each restart that finds a `keyed` call unfinished adds 1: an earlier run may have done some of its work. */
  readonly attempt: number
  /** The calling agent. */
  readonly agent: Entity
  /** Id of the agent's world; a session has its own. */
  readonly world: string
  /** Reports progress to listeners; shown, never stored. */
  readonly progress: (message: string, fraction?: number) => void
  /** Sleeps on the Runner's clock; rejects when the signal aborts. */
  readonly sleep: (durationMs: number) => Promise<void>
}

/** The result of a tool, as the model gets it. */
export type ToolOutput = {
  readonly content: readonly (TextBlock | FileBlock)[]
  /** The tool ran, but could not do what was asked. */
  readonly isError?: boolean | undefined
}

/** A declaration and its handler. */
export interface Tool {
  readonly declaration: ToolDeclaration
  /**
   * Checks the arguments, runs the handler and caps its result. Wrong arguments give an error output; throws what the handler
   * throws. Synchronous if schema and handler are.
   */
  readonly call: (input: Json, context: ToolContext) => ToolOutput | Promise<ToolOutput>
}
