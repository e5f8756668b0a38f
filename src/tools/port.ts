import type { Entity } from '../world/component.ts'
import type { Json } from '../world/json.ts'
import type { FileBlock, TextBlock } from '../protocol/message.ts'
import type { ToolDeclaration } from '../protocol/tool-declaration.ts'

/** What a handler is given besides its arguments. */
export interface ToolContext {
  /** Aborted when the call is cancelled, timed out or the Runner stops. */
  readonly signal: AbortSignal
  /** The same over restarts, and where a session is resumed: hand it to services that take an idempotency key. */
  readonly key: string
  /**
   * 1 for the first run. Of a `keyed` tool, each restart that finds the call unfinished adds 1: an earlier run may have done
   * its work, in whole or in part. It survives crashes.
   */
  readonly attempt: number
  /** The agent that calls: an entity of its world. */
  readonly agent: Entity
  /** Id of the world that the agent is in; of a session's, its own. */
  readonly world: string
  /** Tells listeners how far the work is; shown, never stored. */
  readonly progress: (message: string, fraction?: number) => void
  /** Resolves after so many milliseconds of the Runner's clock; rejects when the signal aborts. */
  readonly sleep: (durationMs: number) => Promise<void>
}

/** What a model reads of a call. */
export type ToolOutput = {
  readonly content: readonly (TextBlock | FileBlock)[]
  /** The tool ran and reports that it could not do what was asked. */
  readonly isError?: boolean | undefined
}

/** A tool of the Host: its declaration, and the handler that a Runner calls. */
export interface Tool {
  readonly declaration: ToolDeclaration
  /**
   * Checks the arguments, runs the handler and makes its result fit for a model (JSON, capped in size). Gives an error
   * output for wrong arguments, and throws what the handler threw; at once if neither schema nor handler is asynchronous.
   */
  readonly call: (input: Json, context: ToolContext) => ToolOutput | Promise<ToolOutput>
}
