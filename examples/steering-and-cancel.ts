import { agent, Conversation, defineTool, Runner, scripted, standardSystems, textOf, World } from 'entia'
import { z } from 'zod'

// An agent at work can be spoken to and can be stopped.

const dig = defineTool({
  name: 'dig',
  description: 'Digs a hole of so many metres.',
  input: z.object({ metres: z.number() }),
  restart: 'once',
  async run({ metres }, { progress, signal, sleep }) {
    // Aborted when the call is cancelled. Hand it to whatever does the work: fetch, a child process, an SDK.
    signal.addEventListener('abort', () => console.log('(the spade is dropped)'))
    progress(`Digging ${metres} m`)
    await sleep(metres * 10)
    return `It is ${metres} m deep.`
  },
})

// Digs as deep as the user said last, unless that is done already.
const digger = scripted(({ messages }) => {
  const last = messages.at(-1)
  const metres = /\d+/.exec(textOf(last))?.[0]
  if (last?.role === 'tool' || metres === undefined) return 'As you like.'
  return { text: 'I dig.', toolCalls: [{ name: 'dig', arguments: { metres: Number(metres) } }] }
})

const world = new World({ systems: standardSystems() })
const worker = world.spawn(...agent({ model: 'script/digger', tools: [dig], messages: 'Dig 1 m.' }))
const runner = new Runner(world, { models: { script: digger }, tools: [dig] })
runner.on('tool-progressed', ({ message }) => console.log(`(${message})`))
runner.on('turn-ended', ({ stop }) => console.log(`(turn ended: ${stop})`))
const progress = () => new Promise((resolve) => runner.on('tool-progressed', resolve))

const firstHole = progress()
await runner.start()
await firstHole
// Comes while the tool runs. It stands behind the result, and the model reads both at its next step.
const secondHole = progress()
await runner.message(worker, 'Deeper: 600 m!')
await secondHole

// Resolves once the end of the turn is committed. Then the work is aborted; what it may still give is dropped.
await runner.cancel(worker)
// The conversation is left as a provider accepts it, so it can go on.
await runner.message(worker, 'Never mind.')
await runner.idle()
await runner.stop()

for (const { role, content } of world.read(worker, Conversation)) {
  const blocks = content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`))
  console.log(`${role}: ${blocks.join(' ')}`)
}

/*
Prints:
(Digging 1 m)
(Digging 600 m)
(the spade is dropped)
(turn ended: cancelled)
(turn ended: done)
user: Dig 1 m.
assistant: I dig. <tool-call>
tool: It is 1 m deep.
user: Deeper: 600 m!
assistant: I dig. <tool-call>
tool: [cancelled by the user; it may have taken effect]
assistant: [turn cancelled]
user: Never mind.
assistant: As you like.
*/
