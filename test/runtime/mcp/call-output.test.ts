import { describe, expect, it } from 'vitest'
import { callOutput, resourceOutput } from '../../../src/runtime/mcp/call-output.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46]).toString('base64')

/** What a model gets of a picture that a server sends. */
function pictured(data: string, mimeType: string): unknown {
  const { content } = callOutput({ content: [{ type: 'image', data, mimeType }] }, undefined) as {
    content: readonly unknown[]
  }
  return content[0]
}

describe('a picture of an MCP server', () => {
  it.each([
    ['is called by another type', jpeg, 'image/png', 'image/jpeg', jpeg],
    ['is called by another name', jpeg, 'image/jpg', 'image/jpeg', jpeg],
    ['is a data: URL', `data:image/png;base64,${png}`, 'image/png', 'image/png', png],
    ['is in lines', png.replaceAll(/(.{60})/g, '$1\n'), 'image/png', 'image/png', png],
  ])('that %s is one', (_, data, mimeType, mediaType, sent) => {
    expect(pictured(data, mimeType)).toEqual({ type: 'file', mediaType, data: sent })
  })

  it.each([
    ['is empty', '', 'not shown: image/png, 0 bytes: it is empty'],
    ['is no Base64', '%%%%', 'not shown: image/png, 3 bytes: its data is not Base64'],
    ['is no picture', 'gIGCgw==', 'its bytes are no image/png'],
    ['is too large', 'A'.repeat(7_000_001), 'not shown: image/png, 5250000 bytes'],
  ])('that %s is told in a note', (_, data, text) => {
    expect(pictured(data, 'image/png')).toMatchObject({ type: 'text', text: expect.stringContaining(text) as string })
  })

  it('that is a web page is a text', () => {
    expect(pictured(Buffer.from('<title>404</title>').toString('base64'), 'image/png')).toEqual({
      type: 'text',
      text: '[text/plain]\n<title>404</title>',
    })
  })

  it('that is a resource of text in bytes is its text', () => {
    const blob = Buffer.from('a;é').toString('base64')
    const { content } = resourceOutput({ contents: [{ uri: 'file:///a.csv', mimeType: 'text/csv', blob }] })
    expect(content).toEqual([{ type: 'text', text: '[file:///a.csv]\na;é' }])
  })

  it('that is a sound is told in a note', () => {
    const data = Buffer.from('RIFF\x24\0\0\0WAVEfmt ').toString('base64')
    const { content } = callOutput({ content: [{ type: 'audio', data, mimeType: 'audio/wav' }] }, undefined) as {
      content: unknown[]
    }
    expect(content).toEqual([{ type: 'text', text: '[not shown: audio/wav, 18 bytes]' }])
  })
})
