import { agent, defineTool, lastText, type ModelProvider, Runner, standardSystems, textOf, World } from 'entia'
import { openaiCompatible } from 'entia/models'
import { z } from 'zod'
import {
  add,
  callId,
  type Peer,
  question,
  system,
  think,
  tokens,
  toolDescription,
  toolName,
  type Work,
} from './work.ts'

const tool = defineTool({
  name: toolName,
  description: toolDescription,
  input: z.object({ a: z.number(), b: z.number() }),
  restart: 'pure',
  run: add,
})

/** One World for the process, as a server has it. A run is an agent that is put into it and taken out at its end. */
export const peer: Peer = {
  async open(work) {
    const { toolCalls, baseURL } = work
    const provider =
      baseURL === undefined ? inProcess(work) : openaiCompatible({ name: 'bench', baseURL, apiKey: 'none' })
    const limits = { maxSteps: toolCalls + 1, maxToolCalls: toolCalls + 1 }
    const asked = agent({ model: 'bench/model', system, tools: [tool], messages: question, ...limits })
    const world = new World({ systems: standardSystems() })
    // The others have no limit of work in flight.
    const runner = new Runner(world, { models: { bench: provider }, tools: [tool], maxInFlight: 100_000 })
    const waiting = new Map<number, PromiseWithResolvers<void>>()
    runner.on('turn-ended', ({ agent: ended, stop, failure }) => {
      const end = waiting.get(ended)
      waiting.delete(ended)
      if (stop === 'done') end?.resolve()
      else end?.reject(new Error(`The agent ended with ${stop}: ${failure?.message}`))
    })
    await runner.start()
    return async () => {
      const end = Promise.withResolvers<void>()
      const entity = await runner.change((changed) => {
        const spawned = changed.spawn(...asked)
        waiting.set(spawned, end)
        return spawned
      })
      await end.promise
      const text = lastText(world, entity)
      await runner.change((changed) => changed.despawn(entity))
      return text ?? ''
    }
  },
}

function inProcess(work: Work): ModelProvider {
  return {
    isInProcess: true,
    async call({ messages }) {
      const last = messages.at(-1)
      const move = await think(last?.role === 'tool' ? textOf(last) : undefined, work)
      if (typeof move === 'string') {
        const message = { role: 'assistant' as const, content: [{ type: 'text' as const, text: move }] }
        return { ok: true, value: { message, stop: 'end', usage: tokens } }
      }
      const call = { type: 'tool-call' as const, id: callId(), name: toolName, arguments: { ...move } }
      return {
        ok: true,
        value: { message: { role: 'assistant', content: [call] }, stop: 'tool-calls', usage: tokens },
      }
    },
  }
}
