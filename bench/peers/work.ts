import { setTimeout } from 'node:timers/promises'

/** The work that every peer does: an agent that counts, one call of its only tool a step. */
export interface Work {
  /** Calls of the tool that the model asks for, one a step, before it answers. */
  readonly toolCalls: number
  /** How long the model takes for each answer. */
  readonly latencyMs: number
  /** Where a server speaks Chat Completions. Absent: the model is a function in this process. */
  readonly baseURL?: string
}

/** One framework under measurement. An adapter exports it as `peer`. */
export interface Peer {
  /** Makes what a program makes once. The function that this gives makes a new agent, runs it and gives its last text. */
  open(work: Work): Run | Promise<Run>
}

export type Run = () => Promise<string>

export const system = 'You are a calculator. You call the tool add for every addition, however small it is.'
export const question = 'Begin with 0 and add 1 to it, again and again. What do you get?'
export const toolName = 'add'
export const toolDescription = 'Adds two numbers.'
/** For those that take no zod schema. */
export const toolParameters = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
} as const

export interface Addition {
  readonly a: number
  readonly b: number
}

/** What the tool does. */
export function add({ a, b }: Addition): string {
  return String(a + b)
}

/** What a run must end with. Only an agent that has made every call, and has sent every result to the model, gets there. */
export function answer(toolCalls: number): string {
  return `Adding 1 again and again gives ${toolCalls}.`
}

/** What the model says next: a call, or its answer. It knows the newest result alone, so that a step costs it nothing. */
export function nextMove(newestResult: string | undefined, toolCalls: number): Addition | string {
  const sum = newestResult === undefined ? 0 : Number(newestResult)
  return sum === toolCalls ? answer(toolCalls) : { a: sum, b: 1 }
}

/** The model as a function in this process. Adapters put what it says into the form of their framework. */
export async function think(
  newestResult: string | undefined,
  { toolCalls, latencyMs }: Work,
): Promise<Addition | string> {
  if (latencyMs > 0) await setTimeout(latencyMs)
  return nextMove(newestResult, toolCalls)
}

let calls = 0

/** An id for a tool call. */
export function callId(): string {
  return `call_${++calls}`
}

/** What the model is said to have read and written. */
export const tokens = { input: 50, output: 10 } as const
