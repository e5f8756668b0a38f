import { inputKinds, inputSchema } from '../../components/input.ts'
import { canonical } from '../world/canonical.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { Input } from '../world/input.ts'
import { inspect } from '../world/inspect.ts'
import { issueText } from '../world/issue-text.ts'
import type { World } from '../world/world.ts'
import { undeclaredInput } from './declared-names.ts'

/** What only a Runner knows to be true. */
const ownKinds: ReadonlySet<unknown> = new Set([
  'admitted',
  'change',
  'due',
  'granted',
  'session-spent',
  'session-stopped',
  'started',
  'subtask-spent',
])

/**
 * An input from outside, canonical, as it may enter a world.
 *
 * @param id to take it under, once
 * @throws `invalid-input`, `not-json`
 */
export function postedInput(world: World, input: unknown, id?: string): Input {
  const stored = canonical(isObject(input) && id !== undefined ? { ...input, id } : input, () => 'an input')
  const problem = problemOf(world, stored)
  if (problem === undefined) return stored as Input
  throw new EntiaError('invalid-input', `${problem} It was not taken.`)
}

/** Takes out what was posted to a world before its start. What is no input is refused. */
export function takeEarly(world: World): Input[] {
  const { inbox } = world.core
  for (const [index, input] of inbox.entries()) {
    try {
      postedInput(world, input)
    } catch (error) {
      inbox.splice(index, 1)
      throw error
    }
  }
  return inbox.splice(0)
}

function problemOf(world: World, input: unknown): string | undefined {
  if (!isObject(input) || typeof input['kind'] !== 'string') {
    return `An input is an object whose 'kind' is a text, by which systems pick it; came ${inspect(input)}.`
  }
  const { kind, id } = input
  if (ownKinds.has(kind)) return `Inputs of kind '${kind}' are the Runner's own; to write, use runner.change(…).`
  const schema = inputSchema(kind)
  const issue = schema?.safeParse(input).error?.issues[0]
  if (issue !== undefined) return `Input '${kind}'${issueText(issue)}.`
  const isId = id === undefined || (typeof id === 'string' && id !== '')
  if (!isId) return `Input '${kind}' at id: expected a text that is not empty.`
  return schema === undefined ? undeclaredInput(world, kind, inputKinds()) : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
