import type { FileBlock, Message } from 'entia'
import { describe, expect, it } from 'vitest'
import { startScriptedServer } from '../servers/scripted-server.ts'
import { failureOf, replyOf, requestOf, resultOf, userSays } from './model-calls.ts'
import { chatWire, type WireOfOthers, wiresOfOthers } from './wires-of-others.ts'

const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46]).toString('base64')
const wav = Buffer.from('RIFF\x24\x00\x00\x00WAVEfmt ').toString('base64')
const file = (mediaType: string, data: string): FileBlock => ({ type: 'file', mediaType, data })
const call = { type: 'tool-call', id: 'a', name: 'look', arguments: {} } as const
const called: Message = { role: 'assistant', content: [call] }

/** What is sent of a tool's result, as text. */
async function sentOf(wire: WireOfOthers, ...content: FileBlock[]): Promise<string> {
  const server = await startScriptedServer(() => wire.text('Fine.'))
  const result = { ...resultOf('a', ''), content }
  await replyOf(wire.make(server.url), requestOf([userSays('Look.'), called, result]))
  return JSON.stringify(server.bodies[0]?.[wire.field])
}

describe.each(wiresOfOthers)('a file of a tool to $name', (wire) => {
  it('goes under the type of its bytes', async () => {
    const sent = await sentOf(wire, file('image/png', jpeg))
    expect(sent).toContain('image/jpeg')
    expect(sent).not.toContain('image/png')
    expect(await sentOf(wire, file('image/png', `data:image/png;base64,${jpeg}\n`))).toContain(jpeg)
  })

  it('that is a text goes as one', async () => {
    expect(await sentOf(wire, file('image/svg+xml', Buffer.from('<svg a="é"/>').toString('base64')))).toContain(
      String.raw`<svg a=\"é\"/>`,
    )
  })

  it.each([
    ['is empty', file('image/png', ''), 'it is empty'],
    ['is no Base64', file('image/png', 'not base64!'), 'its data is not Base64'],
    ['is no picture', file('image/png', 'gIGCgw=='), 'its bytes are no image/png'],
    ['is of an unknown type', file('application/x-foo', 'gIGCgw=='), 'it takes no application/x-foo'],
    ['is a film', file('video/mp4', Buffer.from('\0\0\0\x18ftypmp42').toString('base64')), 'it takes no video/mp4'],
    ['is too large', file('image/jpeg', jpeg.slice(0, 8) + 'A'.repeat(21 * 2 ** 20)), 'it is larger than'],
    ['is a kind of picture that no model reads', file('image/tiff', 'SUkqAAgAAAA='), 'it takes no image/tiff'],
  ])('that %s is told in a note', async (_, block, why) => {
    expect(await sentOf(wire, block)).toMatch(
      new RegExp(`not sent: a file \\(${block.mediaType}, \\d+ bytes\\): .*${why}`),
    )
  })

  it('that it cannot be sent fails the message in which the user sends it, and no later one', async () => {
    const server = await startScriptedServer(() => wire.text('Fine.'))
    const provider = wire.make(server.url)
    const messages: Message[] = [{ role: 'user', content: [file('application/x-foo', 'gIGCgw==')] }]
    expect(await failureOf(provider, requestOf(messages))).toMatchObject({
      kind: 'invalid-request',
      message: expect.stringContaining('"application/x-foo"') as string,
    })
    expect(server.bodies).toHaveLength(0)
    await replyOf(provider, requestOf([...messages, userSays('And now?')]))
    expect(JSON.stringify(server.bodies[0])).toContain('not sent: a file (application/x-foo')
  })
})

it('a sound goes over Chat Completions as one, and to the others as a note', async () => {
  expect(await sentOf(chatWire, file('audio/x-wav', wav))).toContain(`"input_audio":{"data":"${wav}","format":"wav"}`)
  for (const wire of wiresOfOthers.slice(1))
    expect(await sentOf(wire, file('audio/wav', wav))).toMatch(/not sent.*audio\/wav/)
})
