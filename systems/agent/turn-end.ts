import { Answered } from '../../components/agent/agent-tags.ts'
import { Conversation, Unread } from '../../components/agent/conversation.ts'
import { OutputSchema, TurnOutputSchema } from '../../components/agent/llm.ts'
import { Turn } from '../../components/agent/turn.ts'
import type { Entity } from '../../src/world/component.ts'
import type { Json, JsonObject } from '../../src/base/json.ts'
import { emptyReplyNote } from '../../src/rules/projection/rewind-point.ts'
import { textOf } from '../../src/rules/projection/text-of.ts'
import type { World } from '../../src/world/world.ts'
import { endTurn } from './end-turn.ts'
import { checkJson } from '../../src/rules/text/schema-issues.ts'
import { emit } from '../kit.ts'

/** Repair rounds for a final answer that does not match its schema. */
const maxRepairs = 1

/** Empty replies in a row that are asked again; one more ends the turn. */
const maxEmptyReplies = 1

/**
 * Ends the turn of an agent whose model gave its final text, unless a message arrived meanwhile. After an empty reply,
 * or an answer that does not match its schema, the model is asked once more.
 * Writes: Turn, Conversation, and what ending a turn writes.
 */
export const turnEnd = {
  name: 'turn-end',
  priority: -70,
  wakes: [Answered],
  run(world: World): void {
    for (const agent of world.query(Answered)) {
      world.remove(agent, Answered)
      if (world.has(agent, Unread)) continue
      if (world.read(agent, Turn).emptyReplies !== undefined) askAgain(world, agent)
      else {
        const wanted = world.get(agent, TurnOutputSchema) ?? world.get(agent, OutputSchema)
        if (wanted === undefined) endTurn(world, agent, { stop: 'done' })
        else checkOutput(world, agent, wanted.schema)
      }
    }
  },
}

/** Asked again, a model that replied with nothing mostly has more to say or do. */
function askAgain(world: World, agent: Entity): void {
  const { emptyReplies = 0 } = world.read(agent, Turn)
  if (emptyReplies > maxEmptyReplies) {
    const message = `The model replied with neither text nor tool calls, ${emptyReplies} times in a row.`
    return endTurn(world, agent, { stop: 'empty-reply', failure: { kind: 'invalid-output', message } })
  }
  world.append(agent, Conversation, { role: 'user', content: [{ type: 'text', text: emptyReplyNote }] })
  emit(world, 'output-rejected', { agent, problem: 'the reply is empty' })
}

function checkOutput(world: World, agent: Entity, schema: JsonObject): void {
  const result = parseOutput(schema, textOf(world.read(agent, Conversation).at(-1)))
  if ('output' in result) return endTurn(world, agent, { stop: 'done', output: result.output })
  const { problem } = result
  const repairs = world.read(agent, Turn).repairs ?? 0
  if (repairs >= maxRepairs) {
    const message = `The final answer does not follow its schema after ${maxRepairs} repair: ${problem}`
    return endTurn(world, agent, { stop: 'failed', failure: { kind: 'invalid-output', message } })
  }
  world.patch(agent, Turn, { repairs: repairs + 1 })
  const text = `Your answer does not follow the required JSON Schema: ${problem}\nAnswer again with the JSON alone.`
  world.append(agent, Conversation, { role: 'user', content: [{ type: 'text', text }] })
  emit(world, 'output-rejected', { agent, problem })
}

function parseOutput(schema: object, text: string): { output: Json } | { problem: string } {
  const bare = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text
  let output: Json
  try {
    output = JSON.parse(bare) as Json
  } catch {
    // The parser's message differs between Node versions; a replay must give the same conversation.
    return { problem: 'it is no JSON' }
  }
  const problem = checkJson(schema, output)
  return problem === undefined ? { output } : { problem }
}
