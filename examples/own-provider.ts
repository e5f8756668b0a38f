import { agent, ask, type ModelProvider, Runner, standardSystems, textOf, World } from 'entia'

// A provider of your own: one function from a request to a reply. Here the model is a parrot in this process; yours sends
// the request over the wire.

const parrot: ModelProvider = {
  // When a call that failed is tried again. Absent: the standard policy. `false`: never.
  retry: { maxAttempts: 3, firstDelayMs: 10, maxDelayMs: 100, kinds: ['overloaded', 'rate-limited'] },
  async call({ messages, model }, { attempt, onDelta, signal }) {
    // What can go wrong is data, with a kind of a closed list. What is thrown counts as a defect.
    if (signal.aborted) return { ok: false, failure: { kind: 'cancelled', message: 'The call was cancelled.' } }
    if (attempt === 1) return { ok: false, failure: { kind: 'overloaded', message: 'The parrot is asleep.' } }
    const text = `${textOf(messages.at(-1))} (says ${model})`
    // Emitted to listeners, never stored.
    onDelta({ type: 'text', text })
    return {
      ok: true,
      value: {
        message: { role: 'assistant', model, content: [{ type: 'text', text }] },
        stop: 'end',
        // What the provider does not say is left out: it is unknown then, and not 0.
        usage: { input: 3, output: 5 },
      },
    }
  },
}

const world = new World({ systems: standardSystems() })
const bird = world.spawn(...agent({ model: 'parrot/grey' }))
const runner = new Runner(world, {
  models: { parrot },
  // US dollars for a million tokens, and the context window in tokens.
  prices: { 'parrot/grey': { input: 2, output: 4, contextWindow: 8_000 } },
})
await runner.start()
for await (const part of ask(runner, bird, 'Hello!').parts) {
  if (part.type === 'retry') console.log(`again, since ${part.failure.message}`)
  if (part.type === 'end') console.log(`${part.answer.text} $${part.answer.costUsd}`)
}
await runner.stop()

/*
Prints:
again, since The parrot is asleep.
Hello! (says grey) $0.000026
*/
