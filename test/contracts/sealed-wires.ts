import type { JsonBody } from '../servers/loopback.ts'
import {
  blocks,
  callItem,
  chatWire,
  chunks,
  items,
  messagesWire,
  responsesWire,
  type WireOfOthers,
} from './wires-of-others.ts'

/** A protocol with what its provider seals. */
export interface SealedWire {
  readonly wire: WireOfOthers
  /** A reply that calls a tool, with a seal of the provider's own. */
  readonly calls: (name: string, seal: string, args?: object, id?: string) => string
  /** How it refuses the seal. */
  readonly words: string
}

export const sealedWires: readonly SealedWire[] = [
  {
    wire: chatWire,
    calls: (name, seal, args = {}, id = seal) => {
      const extra_content = { google: { thought_signature: seal } }
      const call = {
        index: 0,
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(args) },
        extra_content,
      }
      return chunks([{ tool_calls: [call] }], 'tool_calls')
    },
    words: 'Corrupted thought signature.',
  },
  {
    wire: messagesWire,
    calls: (name, seal, input = {}, id = seal) =>
      blocks(
        [
          [
            { type: 'thinking', thinking: '', signature: '' },
            { type: 'thinking_delta', thinking: 'Hm.' },
            { type: 'signature_delta', signature: seal },
          ],
          [{ type: 'tool_use', id, name, input }],
        ],
        'tool_use',
      ),
    words: 'messages.1.content.0: Invalid `signature` in `thinking` block',
  },
  {
    wire: responsesWire,
    calls: (name, seal, args = {}, id = seal) =>
      items([
        { type: 'reasoning', id: `rs_${seal}`, summary: [], encrypted_content: seal },
        callItem({ id: `fc_${seal}`, call_id: id, name, arguments: JSON.stringify(args) }),
      ]),
    words: 'The encrypted content for item rs_1 could not be verified.',
  },
]

/** Is a seal among what is the provider's own? Ids of calls are made from the same word. */
export function hasSeal(body: JsonBody, seal: string): boolean {
  return new RegExp(`"(thought_signature|signature|encrypted_content)":"${seal}"`).test(JSON.stringify(body))
}
