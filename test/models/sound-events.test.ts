import { describe, expect, it } from 'vitest'
import { saidIn } from '../../src/models/no-answer.ts'
import { SoundEvents } from '../../src/models/sound-events.ts'

/** What comes out of a stream that arrives in pieces of so many bytes. */
async function soundOf(text: string, pieceBytes = 1_000_000): Promise<string> {
  const bytes = Buffer.from(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) =>
    bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  )
  const events = new SoundEvents(new Headers({ 'x-from': 'here' }))
  return Buffer.concat([...pieces.map((piece) => events.take(piece)), events.end()]).toString()
}

const first = 'data: {"a":1}\n\n'

describe('events of a server', () => {
  it.each([
    ['that are sound', `${first}data: {"b":"Ü😀"}\n\n`, `${first}data: {"b":"Ü😀"}\n\n`],
    ['with other line ends', 'event: a\r\ndata:{"a":1}\r\n\r\ndata: {}\r\r', `event: a\n${first}data: {}\n\n`],
    ['with a word for their end', 'data: [DONE]\n\n', 'data: {"choices":[],"isDone":true}\n\ndata: [DONE]\n\n'],
    ['without data', `retry: 3000\n\n${first}data:\n\ndata: \n\nid: 7\n\nevent: ping\n\n: still here\n\n`, first],
    ['with a name', 'event: message_stop\ndata: {}\n\n', 'event: message_stop\ndata: {}\n\n'],
    [
      'whose data has the name',
      'data: {"type":"message_stop"}\n\n',
      'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    ],
    ['whose data has a name for something else', 'data: {"a":{"type":"x"}}\n\n', 'data: {"a":{"type":"x"}}\n\n'],
    ['with data in several lines', 'data: {"a":\ndata: 1}\n\n', 'data: {"a":\ndata: 1}\n\n'],
    ['the last of which is not ended', `${first}data: {"b":2}`, `${first}data: {"b":2}\n\n`],
    ['behind a byte order mark', `\uFEFF${first}`, first],
    [
      'with no error in them',
      'data: {"error":null}\n\ndata: ["error"]\n\n',
      'data: {"error":null}\n\ndata: ["error"]\n\n',
    ],
    ['that are no JSON', 'data: {"error"\n\n', 'data: {"error"\n\n'],
  ])('%s are sound then, however their bytes arrive', async (_, sent, sound) => {
    expect(await soundOf(sent)).toBe(sound)
    expect(await soundOf(sent, 1)).toBe(sound)
    expect(await soundOf(sent, 3)).toBe(sound)
  })

  it('that are an error fail with what it says, behind those before', async () => {
    const failing = soundOf(`${first}event: error\ndata: {"error":{"message":"No.","code":"c"}}\n\n${first}`)
    const said = await failing.then(() => undefined, saidIn)
    expect(said).toMatchObject({ message: 'No.', names: ['c'] })
    expect(said?.headers?.get('x-from')).toBe('here')
  })
})
