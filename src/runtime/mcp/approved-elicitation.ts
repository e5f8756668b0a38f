import { Serial } from '../../base/serial.ts'
import type { Channel } from '../../protocol/policy.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { ApproveCall } from '../chat/approval.ts'
import type { AnswerElicitation } from './mcp-connection.ts'
import { toolNames } from './tool-names.ts'

/**
 * Puts a server's questions to the person who approves calls. A yes answers what a yes can: fields that are true or false, that
 * have a default, or a single choice. What wants other words is declined.
 */
export function elicitationBy(approve: ApproveCall, channel: Channel): AnswerElicitation {
  let asked = 0
  const questions = new Serial()
  return async ({ message, schema, server }, { signal }) => {
    const content = contentOfYes(schema)
    if (content === undefined) return { action: 'decline' }
    const id = `elicitation-${++asked}`
    const tool = toolNames(server, ['asks']).get('asks') as string
    const question = async () => {
      const call = {
        id,
        approval: id,
        tool,
        arguments: { message, answer: content },
        channel,
        paths: [],
        urls: [],
        dataClass: 'public' as const,
        operation: 'unknown' as const,
        mayRemember: false,
      }
      const reason = `the MCP server '${server}' asks: ${message}`
      return approve(call, { model: 'cloud', approval: 'ask', reason }, { signal })
    }
    try {
      const answer = await questions.run(question)
      const isYes = typeof answer === 'object' ? answer.approved : answer
      return isYes ? { action: 'accept', content } : { action: 'decline' }
    } catch {
      return { action: 'decline' }
    }
  }
}

type Field = string | number | boolean | string[]

/** What a yes says; `undefined`: a yes does not answer what has to be answered. */
function contentOfYes(schema: JsonObject): Record<string, Field> | undefined {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, JsonObject>>
    readonly required?: readonly Json[]
  }
  const content: Record<string, Field> = {}
  for (const [name, field] of Object.entries(properties)) {
    const value = fieldOfYes(field)
    if (value !== undefined) content[name] = value
    else if (required.includes(name)) return undefined
  }
  return content
}

function fieldOfYes({ default: usual, enum: choices, type }: JsonObject): Field | undefined {
  if (typeof usual === 'string' || typeof usual === 'number' || typeof usual === 'boolean') return usual
  if (type === 'boolean') return true
  const [only] = Array.isArray(choices) && choices.length === 1 ? choices : []
  return typeof only === 'string' ? only : undefined
}
