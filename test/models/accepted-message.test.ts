import { describe, expect, it } from 'vitest'
import { acceptedMessage } from '../../src/models/accepted-message.ts'
import { nothingLeftOut } from '../../src/models/refused-parts.ts'
import type { AssistantMessage } from '../../src/protocol/message.ts'

const call = (id: string) => ({ type: 'tool-call', id, name: 'add', arguments: {} }) as const
const thinking = { type: 'thinking', provider: 'local', text: 'Hm.' } as const
const own = { provider: 'local', fields: { extra_content: { google: { thought_signature: 'c2ln' } } } }

/** What is sent of a reply to a server that has refused what is not there. */
function sentOf(content: AssistantMessage['content'], refused: object, adapter = 'local') {
  const leftOut = { ...nothingLeftOut, ...refused }
  return acceptedMessage({ role: 'assistant', content }, () => true, { adapter, leftOut })?.content
}

describe('a reply to a server that wants thinking', () => {
  it('keeps its own, and has a blank where it has none, or none of that server', () => {
    const refused = { noThinking: true }
    expect(sentOf([thinking, call('a')], refused)).toEqual([thinking, call('a')])
    for (const sent of [sentOf([call('a')], refused), sentOf([thinking, call('a')], { ...refused, own: true })]) {
      expect(sent).toEqual([{ type: 'thinking', provider: 'local', text: ' ', signature: '' }, call('a')])
    }
    expect(sentOf([thinking, call('a')], refused, 'other')).toMatchObject([{ provider: 'other', text: ' ' }, call('a')])
  })
})

describe('a reply to a server that wants signatures', () => {
  it('keeps its own, and has one that stands for any at its first call where it has none', () => {
    const refused = { noSignature: true }
    const signed = { ...call('a'), extra: own }
    expect(sentOf([signed, call('b')], refused)).toEqual([signed, call('b')])
    expect(sentOf([call('a'), call('b')], refused)).toMatchObject([
      {
        id: 'a',
        extra: {
          provider: 'local',
          fields: { extra_content: { google: { thought_signature: expect.any(String) as string } } },
        },
      },
      call('b'),
    ])
    expect(sentOf([{ type: 'text', text: 'Hi.' }], refused)).toEqual([{ type: 'text', text: 'Hi.' }])
  })
})
