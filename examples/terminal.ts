import {
  agent,
  ask,
  type Asking,
  defineTool,
  type ModelProvider,
  Runner,
  scripted,
  standardSystems,
  World,
} from 'entia'
import { z } from 'zod'

// Writes a turn to a terminal while it happens: text as it is written, tools as they run, and a call that was cut off.

const weather = defineTool({
  name: 'weather',
  description: 'Says what the weather is like.',
  input: z.object({ place: z.string() }),
  restart: 'pure',
  run: ({ place }, { progress }) => {
    progress(`asking the station of ${place}`, 0.5)
    return 'rain'
  },
})

const script = scripted(({ messages }) => {
  if (messages.at(-1)?.role === 'tool') return 'Take an umbrella.'
  return { text: 'I look at the weather.', toolCalls: [{ name: 'weather', arguments: { place: 'Bergen' } }] }
})
/** The script over a bad line: the first try of the last step breaks off after a few words. */
const badLine: ModelProvider = {
  retry: { maxAttempts: 2, firstDelayMs: 1, maxDelayMs: 1, kinds: ['overloaded'] },
  async call(request, context) {
    if (context.attempt > 1 || request.messages.at(-1)?.role !== 'tool') return script.call(request, context)
    context.onDelta({ type: 'text', text: 'Take a sun' })
    await context.sleep(50)
    return { ok: false, failure: { kind: 'overloaded', message: 'the connection was lost' } }
  },
}

async function show({ parts }: Asking): Promise<void> {
  for await (const part of parts) {
    if (part.type === 'text') process.stdout.write(part.text)
    // The text since the last part of another type is void. A terminal cannot take it back, so say so.
    if (part.type === 'discarded') process.stdout.write('... (cut off)')
    if (part.type === 'retry') process.stdout.write(`\n(try ${part.attempt}, after ${part.failure.kind})\n`)
    if (part.type === 'tool-call') process.stdout.write(`\n> ${part.tool} ${JSON.stringify(part.arguments)}\n`)
    if (part.type === 'tool-progress') process.stdout.write(`  ${part.message}\n`)
    if (part.type === 'tool-result') process.stdout.write(`  ${part.isError ? 'failed' : 'done'}\n`)
    // The last part, also of a turn that failed: reading parts does not throw for that.
    if (part.type === 'end') process.stdout.write(`\n(${part.answer.stop}, ${part.answer.steps} steps)\n`)
  }
}

const world = new World({ systems: standardSystems() })
const guide = world.spawn(...agent({ model: 'line/guide', tools: [weather] }))
const runner = new Runner(world, { models: { line: badLine }, tools: [weather] })
await runner.start()
await show(ask(runner, guide, 'What do I need in Bergen?'))
await runner.stop()

/*
Prints:
I look at the weather.
> weather {"place":"Bergen"}
  asking the station of Bergen
  done
Take a sun... (cut off)
(try 2, after overloaded)
Take an umbrella.
(done, 2 steps)
*/
