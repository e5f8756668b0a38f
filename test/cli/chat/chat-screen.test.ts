import { describe, expect, it } from 'vitest'
import { TypedChat } from './typed-chat.ts'

describe('what stands on the screen of a chat', () => {
  it('has nothing left of what stood there before, where a text has tabs', async () => {
    const chat = new TypedChat({
      status: () => ({ model: 'large', folder: 'app', isPlanning: false, shells: 0, subagents: 0 }),
    })
    chat.type('a longer line is typed')
    await chat.screen.until(/typed\nlarge · app$/)
    chat.ui.say('all:\n\tcc x.c\nname\tsize\n漢字\t12\n12345678\tend')
    expect(
      await chat.screen.until(
        /^all:\n {8}cc x\.c\nname {4}size\n漢字 {4}12\n12345678 {8}end\n\n› a longer line is typed\nlarge · app$/,
      ),
    ).toBe(true)
  })

  it('breaks a text with tabs at the edge', async () => {
    const chat = new TypedChat({ columns: 20 })
    chat.ui.say('one\ttwo\tthree\tfour')
    expect(await chat.screen.until(/^one {5}two\nthree {3}four\n\n›$/)).toBe(true)
  })
})
