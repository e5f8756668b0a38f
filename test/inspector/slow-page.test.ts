import { afterEach, describe, expect, it } from 'vitest'
import { agent, memoryStore, Runner, scripted, standardSystems, World } from '../../src/index.ts'
import { LiveStream } from '../../src/inspector/live-stream.ts'
import { LivingSource } from '../../src/inspector/index.ts'
import type { News, Source } from '../../src/inspector/source.ts'
import type { LiveEvents } from '../../src/inspector/reading/wire.ts'

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end()
})

type Heard = { [Name in keyof LiveEvents]: { readonly event: Name; readonly data: LiveEvents[Name] } }[keyof LiveEvents]

/** A page that reads a stream when it is told to, and nothing meanwhile. */
function reading({ body }: LiveStream) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return async (isLast: (heard: Heard) => boolean): Promise<readonly Heard[]> => {
    const all: Heard[] = []
    for (;;) {
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const each = text.slice(0, end)
        text = text.slice(end + 2)
        const [, event] = /^event: (\w+)$/m.exec(each) ?? []
        if (event === undefined) continue
        const heard = { event, data: JSON.parse(/^data: (.*)$/m.exec(each)?.[1] ?? '') as unknown } as Heard
        all.push(heard)
        if (isLast(heard)) return all
      }
      const { done, value } = await reader.read()
      if (done) return all
      text += value
    }
  }
}

/** What may be kept for a page, and what it may have been sent before it stalled. */
const maxPieces = 4_000

describe('a page that reads nothing for a while', () => {
  it('is not waited for, and then gets each tick that it has missed', async () => {
    const world = new World({ name: 'fast', seed: 1, systems: standardSystems() })
    const talker = world.spawn(...agent({ model: 'script/x' }))
    const runner = new Runner(world, { models: { script: scripted(() => 'Yes.') }, store: memoryStore(), record: true })
    await runner.start()
    const stream = new LiveStream(new LivingSource(runner), { world: 'fast', after: 0 })
    endings.push(
      () => stream.close(),
      () => runner.stop(),
    )
    for (let index = 0; index < 700; index++) {
      await runner.message(talker, 'Go.')
      await runner.idle()
    }
    const { tick } = world
    expect(tick).toBeGreaterThan(1_300)
    const until = reading(stream)
    const heard = await until(({ data, event }) => event === 'rows' && data.rows.at(-1)?.tick === tick)
    const rows = heard.flatMap(({ data, event }) => (event === 'rows' ? data.rows : []))
    expect(rows.map((row) => row.tick)).toEqual(Array.from({ length: tick }, (_, index) => index + 1))
  })

  it('has few pieces of an answer kept for it, and gets the whole text so far instead of those that were left out', async () => {
    let hear: (news: News) => void = () => undefined
    let text = ''
    const source: Partial<Source> = {
      watch: (hearer) => {
        hear = hearer
        return () => undefined
      },
      streamed: () => [{ world: 'w', agent: 1, effect: 2, attempt: 1, text, deltas: text.length }],
    }
    const say = (word: string): void => {
      const index = text.length
      text += word
      hear({ type: 'delta', world: 'w', agent: 1, effect: 2, attempt: 1, index, delta: { type: 'text', text: word } })
    }
    const stream = new LiveStream(source as Source, {})
    endings.push(() => stream.close())
    const until = reading(stream)
    const isSaid =
      (word: string) =>
      ({ data, event }: Heard): boolean =>
        event === 'delta' && data.delta.text === word
    expect(await until(({ event }) => event === 'streamed')).toHaveLength(1)
    say('a')
    const first = await until(isSaid('a'))
    // From here on the page takes nothing, while far more is said than is kept for it.
    for (let index = 0; index < 50_000; index++) say('x')
    let pieces = 0
    const later = [...(await until(({ event }) => event === 'streamed' || (event === 'delta' && ++pieces > maxPieces)))]
    expect(pieces).toBeLessThanOrEqual(maxPieces)
    say('!')
    later.push(...(await until(isSaid('!'))))
    let shown = ''
    for (const { data, event } of [...first, ...later]) {
      if (event === 'streamed') shown = data.text
      if (event === 'delta') shown += data.delta.text ?? ''
    }
    expect(shown).toBe(text)
  })
})
