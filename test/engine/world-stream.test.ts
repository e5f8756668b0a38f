import type { Streams, StreamedText } from 'entia/stores'
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/engine/loop/clock.ts'
import type { Mail } from '../../src/engine/loop/letter-box.ts'
import { textsOf } from '../../src/engine/loop/world-stream.ts'

/** A clock that a test moves. */
class HandClock implements Clock {
  #nowMs = 0
  readonly #alarms = new Set<{ readonly atMs: number; readonly fire: () => void }>()

  now = (): number => this.#nowMs
  date = (): number => this.#nowMs

  at(atMs: number, fire: () => void): () => void {
    const alarm = { atMs, fire }
    this.#alarms.add(alarm)
    return () => void this.#alarms.delete(alarm)
  }

  /** Time passes, and what that begins goes on as far as it can. */
  async pass(durationMs: number): Promise<void> {
    this.#nowMs += durationMs
    for (const alarm of this.#alarms) {
      if (alarm.atMs > this.#nowMs) continue
      this.#alarms.delete(alarm)
      alarm.fire()
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** A model that streams in a world of a store, and what the store is told of it. */
function streaming({ write }: { readonly write?: () => Promise<void> } = {}) {
  const clock = new HandClock()
  const written: StreamedText[] = []
  const told = { asks: 0, writes: 0, watch: undefined as number | undefined }
  const streams: Streams = {
    watch: async () => [],
    watched: async (worlds) => {
      told.asks++
      return worlds.map(() => told.watch)
    },
    write: async (texts) => {
      told.writes++
      await write?.()
      written.push(...texts)
    },
  }
  const texts = textsOf({ store: { streams }, journal: { name: 'desk', epoch: 3 }, root: 'desk' } as Mail, clock)
  let index = 0
  const stream = (text: string): void =>
    texts.hear({
      type: 'model-delta',
      world: 'desk',
      agent: 1,
      effect: 2,
      attempt: 1,
      index: index++,
      delta: { type: 'text', text },
    })
  const textOf = ({ line }: StreamedText): string =>
    (JSON.parse(line) as { text: string }[]).map(({ text }) => text).join('')
  return { clock, texts, told, stream, written, said: () => written.map(textOf) }
}

describe('what a model streams in a worker', () => {
  it('is written at most ten times a second, all of it and each piece once', async () => {
    const { clock, said, stream, told } = streaming()
    told.watch = 1
    let all = ''
    for (let piece = 0; piece < 500; piece++) {
      stream(`${piece} `)
      all += `${piece} `
      await clock.pass(10)
    }
    await clock.pass(100)
    expect(told.writes).toBeGreaterThan(40)
    expect(told.writes).toBeLessThanOrEqual(52)
    expect(said().join('')).toBe(all)
  })

  it('is asked for twice a second while nobody watches, and written by none', async () => {
    const { clock, stream, told } = streaming()
    for (let piece = 0; piece < 500; piece++) {
      stream('a')
      await clock.pass(10)
    }
    expect(told.asks).toBeLessThanOrEqual(11)
    expect(told.writes).toBe(0)
  })

  it('is written from its beginning for who begins to watch in the midst of it, though nothing more comes', async () => {
    const { clock, said, stream, told, written } = streaming()
    stream('Once ')
    await clock.pass(100)
    stream('upon ')
    await clock.pass(100)
    told.watch = 1
    await clock.pass(500)
    expect(said()).toEqual(['Once upon '])
    expect(written).toMatchObject([{ epoch: 3, first: 0, next: 2 }])
    stream('a time')
    await clock.pass(100)
    expect(written.at(-1)).toMatchObject({ first: 2, next: 3, line: '[{"type":"text","text":"a time"}]' })
  })

  it('is written from its beginning again for those who watch after nobody did', async () => {
    const { clock, said, stream, told } = streaming()
    told.watch = 1
    stream('Once ')
    await clock.pass(100)
    told.watch = 2
    await clock.pass(500)
    stream('upon ')
    await clock.pass(100)
    expect(said()).toEqual(['Once ', 'Once upon '])
  })

  it('is removed when its call is over, if it was written', async () => {
    const { clock, stream, texts, told, written } = streaming()
    told.watch = 1
    stream('Once ')
    await clock.pass(100)
    texts.forget(2)
    await clock.pass(100)
    expect(written.at(-1)).toMatchObject({ effect: 2, first: 0, line: '' })
    await clock.pass(1_000)
    expect(told.writes).toBe(2)
  })

  it('is written from its beginning after a store has failed', async () => {
    let fails = true
    const { clock, said, stream, told } = streaming({
      write: async () => {
        if (fails) throw new Error('The database is away.')
      },
    })
    told.watch = 1
    stream('Once ')
    await clock.pass(100)
    fails = false
    stream('upon ')
    await clock.pass(100)
    expect(said()).toEqual(['Once upon '])
  })
})
