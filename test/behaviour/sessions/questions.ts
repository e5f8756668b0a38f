import { type ModelRequest, textOf } from 'entia'
import { program, type Program } from './program.ts'
import { once } from './sleepy-team.ts'
import { type Behaviour, type TeamOptions } from './team.ts'

/** What a model was last told by its user. */
export function lastAsked({ messages }: ModelRequest): string {
  return textOf([...messages].findLast(({ role }) => role === 'user'))
}

/** Answers every question with itself. */
export const echo: Behaviour = (request) => `Re: ${lastAsked(request)}`

/** Answers its task at once, and does this with every question that comes after it. */
export function thenAsked(behaviour: Behaviour): Behaviour {
  return (request, context) =>
    [...request.messages].some(({ role }) => role === 'assistant') ? behaviour(request, context) : 'First.'
}

/** A program whose one session has succeeded. */
export async function succeeded(options: TeamOptions = {}): Promise<Program> {
  const made = await program({ worker: echo, ...options })
  await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
  await once(made, () => made.sessions()[0]?.status === 'succeeded')
  return made
}

/** Texts of all that a model was asked with. */
export function texts(made: Program, call: number): string[] {
  return [...(made.asked('worker')[call]?.request.messages ?? [])].map((message) => textOf(message))
}
