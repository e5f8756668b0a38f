import { fieldsOf, objectsIn, textIn } from './wire-values.ts'

/**
 * The events that say the same as an answer which a server sends at once, although it is asked for a stream, in each of the
 * protocols; `undefined`: it is no answer.
 */
export function streamOf(text: string): string | undefined {
  let body: unknown
  try {
    body = JSON.parse(text.trim())
  } catch {
    return undefined
  }
  const answer = fieldsOf(body)
  const choices = objectsIn(answer['choices']).map(fieldsOf)
  if (choices.some((choice) => 'message' in choice)) return event({ ...answer, choices: choices.map(ended) })
  if (answer['object'] === 'response' && Array.isArray(answer['output'])) {
    const type = answer['status'] === 'incomplete' || answer['status'] === 'failed' ? answer['status'] : 'completed'
    return event({ type: `response.${type}`, response: answer })
  }
  return answer['type'] === 'message' && Array.isArray(answer['content']) ? messageEvents(answer) : undefined
}

type Fields = Readonly<Record<string, unknown>>

/** An answer that is whole has ended, whether it says why or not. */
function ended(choice: Fields): Fields {
  return choice['finish_reason'] === undefined || choice['finish_reason'] === null
    ? { ...choice, finish_reason: 'stop' }
    : choice
}

function messageEvents({ content, stop_details, stop_reason, stop_sequence, usage, ...message }: Fields): string {
  const blocks = objectsIn(content).map((block, index) => {
    return event({ type: 'content_block_start', index, content_block: block })
  })
  return [
    event({ type: 'message_start', message: { ...message, usage } }),
    ...blocks,
    event({
      type: 'message_delta',
      delta: { stop_reason: stop_reason ?? 'end_turn', stop_sequence, stop_details },
      usage,
    }),
    event({ type: 'message_stop' }),
  ].join('')
}

function event(data: Fields): string {
  const type = textIn(data['type'])
  return `${type === '' ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`
}
