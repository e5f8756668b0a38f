import { Conversation, type ModelProvider } from 'entia'
import { conversation, fakeModel, provider } from './bare-loop.ts'
import { delegatingWorld } from './delegating-world.ts'
import { cpuMicros, median } from './measure.ts'
import { readable, type Row } from './row.ts'

const rounds = 9
const warmUp = 2

/** What a fork costs whose parent has said much. */
export async function measure(): Promise<Row[]> {
  const messages = 10_000
  const firstMs: number[] = []
  const nextMs: number[] = []
  const jsonMs: number[] = []
  for (let round = -warmUp; round < rounds; round++) {
    const made = await forkable(messages)
    const taken = [await made.fork(), await made.fork(), made.stringify()] as const
    await made.stop()
    if (round < 0) continue
    for (const [index, all] of [firstMs, nextMs, jsonMs].entries()) all.push(taken[index] as number)
  }
  return [
    {
      name: 'a fork of a conversation of 10,000 messages, from its launch to its first model call, CPU',
      value: median(firstMs),
      unit: 'ms',
      limit: 20,
      against: `JSON.stringify ${readable(median(jsonMs))} ms; the second fork ${readable(median(nextMs))} ms`,
    },
  ]
}

/** A world whose lead has said much and now does nothing, and what is done with it: each gives the milliseconds of computing. */
async function forkable(messages: number) {
  const think = provider(fakeModel(0))
  let isFork = false
  let tellOfCall: ((micros: number) => void) | undefined
  const model: ModelProvider = {
    retry: false,
    call: (request, context) => {
      if (isFork) tellOfCall?.(cpuMicros())
      return think.call(request, context)
    },
  }
  const { runner, lead, sessions } = await delegatingWorld({ model, messages: conversation(messages - 2) })
  // As it is with a lead that has worked: its last request is what a fork begins with.
  await runner.message(lead, 'Go.')
  await runner.idle()
  isFork = true
  return {
    fork: async (): Promise<number> => {
      const called = new Promise<number>((resolve) => (tellOfCall = resolve))
      globalThis.gc?.()
      const before = cpuMicros()
      await sessions.fork('Count the ships.')
      const takenMicros = (await called) - before
      await runner.idle()
      return takenMicros / 1_000
    },
    stringify: (): number => {
      const said = runner.world.read(lead, Conversation)
      globalThis.gc?.()
      const before = cpuMicros()
      JSON.stringify(said)
      return (cpuMicros() - before) / 1_000
    },
    stop: () => runner.stop(),
  }
}
