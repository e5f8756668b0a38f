import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fileForm, fileNote } from '../../../src/rules/media/file-form.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46]).toString('base64')
const textData = (text: string) => Buffer.from(text).toString('base64')
const form = (mediaType: string, data: string) => fileForm({ type: 'file', mediaType, data })

describe('a file', () => {
  it.each([
    ['a JPEG that is called a PNG', 'image/png', jpeg, { kind: 'image', mediaType: 'image/jpeg' }],
    ['a PNG that is called nothing', 'application/octet-stream', png, { kind: 'image', mediaType: 'image/png' }],
    ['a JPEG by another name', 'image/jpg', jpeg, { kind: 'image', mediaType: 'image/jpeg' }],
    ['a PNG with a charset', 'image/png; charset=binary', png, { kind: 'image', mediaType: 'image/png', data: png }],
    ['a PNG in a data: URL', 'image/png', `data:image/png;base64,${png}`, { kind: 'image', data: png }],
    ['a PNG in lines', 'image/png', png.replaceAll(/(.{60})/g, '$1\r\n'), { kind: 'image', data: png }],
    ['a PNG without padding', 'image/png', png.replace(/=+$/, ''), { kind: 'image', data: png }],
    [
      'a web page that is called a PNG',
      'image/png',
      textData('<!doctype html>'),
      { kind: 'text', mediaType: 'text/plain' },
    ],
    [
      'a drawing in SVG',
      'image/svg+xml',
      textData('<svg/>'),
      { kind: 'text', mediaType: 'image/svg+xml', text: '<svg/>' },
    ],
    ['JSON', 'application/json', textData('{"é":1}'), { kind: 'text', mediaType: 'application/json', text: '{"é":1}' }],
    [
      'a PDF that is called a text',
      'text/plain',
      textData('%PDF-1.7 …'),
      { kind: 'pdf', mediaType: 'application/pdf' },
    ],
    ['a sound', 'audio/x-wav', textData('RIFF\x24\x00\x00\x00WAVEfmt '), { kind: 'audio', mediaType: 'audio/wav' }],
    [
      'a document of an office',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      textData('PK\x03\x04…'),
      { kind: 'other', mediaType: /wordprocessingml/ },
    ],
    ['bytes that no one knows', 'application/x-foo', 'gIGCgw==', { kind: 'other', mediaType: 'application/x-foo' }],
    ['nothing', 'image/png', '', { kind: 'broken', problem: 'it is empty' }],
    ['no Base64', 'image/png', '%%%', { kind: 'broken', problem: 'its data is not Base64' }],
    ['bytes that are no picture', 'image/png', 'gIGCgw==', { kind: 'broken', problem: 'its bytes are no image/png' }],
  ])('is what its bytes are: %s', (_, mediaType, data, expected) => {
    const { mediaType: type, ...rest } = expected as { readonly mediaType?: unknown }
    expect(form(mediaType, data)).toMatchObject(rest)
    const { mediaType: read = '' } = form(mediaType, data) as { readonly mediaType?: string }
    expect(read).toMatch((type ?? '') as string)
  })

  it('behind an address is what its type says', () => {
    expect(fileForm({ type: 'file', mediaType: 'IMAGE/JPG', url: 'https://a.b/c' })).toEqual({
      kind: 'linked',
      mediaType: 'image/jpeg',
      url: 'https://a.b/c',
    })
    expect(fileForm({ type: 'file', mediaType: 'image/png' })).toMatchObject({ kind: 'broken' })
  })

  it('of any bytes and any label has a form', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.constantFrom('image/png', 'text/csv', '', 'x', 'audio/wav'),
        (bytes, type) => {
          const read = form(type, Buffer.from(bytes).toString('base64'))
          if (read.kind !== 'text') return true
          return Buffer.from(read.text).equals(Buffer.from(bytes)) || bytes[0] === 0xef
        },
      ),
    )
  })

  it('that is not sent is told by name, type, size and why', () => {
    const file = { type: 'file', mediaType: 'audio/wav', data: 'UklG', name: 'a.wav' } as const
    expect(fileNote(file, 'no one hears it')).toBe('[not sent: a file (a.wav, audio/wav, 3 bytes): no one hears it]')
  })
})
