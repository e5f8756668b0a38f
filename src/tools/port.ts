import type { Policy } from '../../components/agent/policy.ts'
import type { DataOf, Entity } from '../world/component.ts'
import type { OwnInput } from '../world/input.ts'
import type { Json } from '../base/json.ts'
import type { FileFact } from '../protocol/file-fact.ts'
import type { StandardInput } from '../protocol/input.ts'
import type { FileBlock, TextBlock, UserMessage } from '../protocol/message.ts'
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
  /** Sleeps on the Runner's clock; rejects when the signal aborts. What still sleeps when the call ends is not woken any more. */
  readonly sleep: (durationMs: number) => Promise<void>
  /**
   * Posts an input to the world of the call. Resolves once that is committed. Its id is `<key>/<n>`, where n counts the posts of
   * this run: a call that runs again posts the same again, and it counts once.
   * @throws by its promise: `invalid-input`, `not-json`, and what the Runner fails with
   */
  readonly post: (input: StandardInput | OwnInput) => Promise<void>
  /** Sends a message to the calling agent, as `post` does: it joins the open turn. */
  readonly message: (message: string | UserMessage) => Promise<void>
  /** Where long results are kept. Absent: the agent has no `Workspace`. */
  readonly handles?: HandleStore | undefined
  /**
   * Where the path arguments led when a policy judged the call, by their absolute paths, links followed; empty: just where
   * they read. Absent: there is no policy, or no path.
   */
  readonly places?: Readonly<Record<string, readonly string[]>> | undefined
  /**
   * What the calls of the agent are judged by. A call is judged by the folder that it names, so a tool that goes through one leaves
   * out what the policy closes below it. Absent: there is no policy.
   */
  readonly policy?: DataOf<() => typeof Policy.schema> | undefined
  /**
   * For a tool that runs programs: the files that the agent has results of, as they were then, so that its output can say which
   * have changed. Empty for other tools. Absent: the agent has no `Retrieval`.
   */
  readonly knownFiles?: readonly FileFact[] | undefined
}

/** A value that was kept, as the World knows it. */
export interface KnownHandle {
  /** Such as `.h_001`. */
  readonly handle: string
  /** One line that says what it is. */
  readonly shape: string
  /** It is in the process of `run_js` alone. */
  readonly isLive?: true | undefined
  /** It was live in a process that has ended. */
  readonly isLost?: true | undefined
}

/**
 * Keeps values of tool calls under handles, which the agent's model can name in later calls. Handles count up from `.h_001` in
 * the agent's World and are never used again. A call that runs again after a restart gets the handles that it had.
 */
export interface HandleStore {
  /** Whether the agent may call `read_handle`. If not, its model has no use for the name of a handle. */
  readonly isReadable: boolean
  /**
   * Keeps a value, durably where the World has a store. Resolves with its handle once the World has committed it.
   * Rejects with `store-failed`, and when the call is over.
   */
  keep(value: Json): Promise<string>
  /** Notes a value that only the process of `run_js` has. Resolves and rejects as `keep` does. */
  keepLive(shape: string): Promise<string>
  /** A kept value; `undefined` for an unknown handle, a live one, and one whose value is gone. */
  read(handle: string): Promise<Json | undefined>
  /** In the order of their numbers. */
  list(): readonly KnownHandle[]
}

/** The result of a tool, as the model gets it. */
export type ToolOutput = {
  readonly content: readonly (TextBlock | FileBlock)[]
  /** The tool ran, but could not do what was asked. */
  readonly isError?: boolean | undefined
  /** Files that the call has read, written or found changed. The model does not see it. */
  readonly files?: readonly FileFact[] | undefined
}

/** A declaration and its handler. */
export interface Tool {
  readonly declaration: ToolDeclaration
  /**
   * Checks the arguments, runs the handler and caps its result. Wrong arguments give an error output; throws what the handler
   * throws. Synchronous if schema and handler are.
   */
  readonly call: (input: Json, context: ToolContext) => ToolOutput | Promise<ToolOutput>
  /**
   * For a tool that keeps values of an agent under names, as `run_js` keeps variables: the value of that name, or why there is
   * none. It evaluates nothing.
   */
  readonly named?: (name: string, of: Pick<ToolContext, 'agent' | 'signal' | 'world'>) => Promise<NamedValue>
}

/** A value that a tool keeps under a name. */
export type NamedValue = { readonly value: Json } | { readonly why: string }
