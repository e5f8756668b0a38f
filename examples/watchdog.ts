import { agent, Conversation, defineTool, Runner, scripted, standardSystems, textOf, World } from 'entia'
import { Context } from 'entia/context'
import { z } from 'zod'

// A model that goes in circles is noticed before it has spent much: cautioned first, or stopped until a person looks.

const readLog = defineTool({
  name: 'read_log',
  description: 'Reads the log of a service.',
  input: z.object({ service: z.string() }),
  restart: 'pure',
  run: ({ service }) => `${service}: no entries`,
})

// Reads the same empty log again and again. A caution makes it think.
const stubborn = scripted(({ messages }) => {
  if (messages.some((message) => textOf(message).startsWith('[watchdog]'))) return 'The log is empty: I am stuck.'
  return { toolCalls: [{ name: 'read_log', arguments: { service: 'api' } }] }
})

for (const mode of ['feedback', 'enforce'] as const) {
  const world = new World({ systems: standardSystems() })
  const options = { model: 'script/stubborn', tools: [readLog], messages: 'Why is the service slow?' }
  const worker = world.spawn(...agent(options), Context({ watchdog: { mode, threshold: 3 } }))
  const runner = new Runner(world, { models: { script: stubborn }, tools: [readLog] })
  runner.on('watchdog-alerted', ({ tool, severity }) => console.log(`(${mode}: ${severity}, ${tool})`))
  runner.on('turn-error', ({ kind, refused }) => console.log(refused === true ? `(refused: ${kind})` : `(${kind})`))
  await runner.start()
  await runner.idle()
  console.log(textOf(world.read(worker, Conversation).at(-1)))

  if (mode === 'enforce') {
    await runner.message(worker, 'Go on.')
    // Nothing but a reset lets it go on; then it reads what the watchdog had to say.
    await runner.resetWatchdog(worker)
    await runner.message(worker, 'Go on.')
    await runner.idle()
    console.log(textOf(world.read(worker, Conversation).at(-1)))
  }
  await runner.stop()
}

/*
Prints:
(feedback: critical, read_log)
The log is empty: I am stuck.
(enforce: critical, read_log)
(watchdog)
[turn stopped by the watchdog]
(refused: watchdog)
The log is empty: I am stuck.
*/
