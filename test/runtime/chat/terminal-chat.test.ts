import { chat } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { rejection } from '../../behaviour/turns/driving.ts'

describe('a chat on the terminal', () => {
  it('is refused where there is no terminal, and with an option that is not there', async () => {
    expect(await rejection(chat())).toMatchObject({
      code: 'invalid-argument',
      message: expect.stringMatching(/^chat: stdin and stdout must be a terminal\./) as string,
    })
    expect(await rejection(chat({ modle: 'x' } as never))).toMatchObject({ code: 'invalid-argument' })
    expect(await rejection(chat({ session: '' }))).toMatchObject({ code: 'invalid-argument' })
  })
})
