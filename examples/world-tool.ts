import { agent, Conversation, defineComponent, run, scripted, standardSystems, textOf, World } from 'entia'
import { defineWorldTool } from 'entia/systems'
import { z } from 'zod'

// A tool that changes the world. It has no handler on the Host: the call is answered in the tick in which it is made, so the change
// and the answer are saved together or not at all, and no restart class is needed.

const Notes = defineComponent('Notes', z.strictObject({ lines: z.array(z.string()) }))

const takeNote = defineWorldTool({
  name: 'take_note',
  description: 'Writes a line into your notes.',
  input: z.object({ line: z.string() }),
  run(world, { line }, { agent: writer }) {
    world.patch(writer, Notes, { lines: [...world.read(writer, Notes).lines, line] })
    return 'Noted.'
  },
})

const student = scripted(({ messages }) => {
  if (messages.at(-1)?.role === 'tool') return 'I have noted it.'
  return { toolCalls: [{ name: 'take_note', arguments: { line: 'Exam on Friday' } }] }
})

const world = new World({ systems: standardSystems({ worldTools: [takeNote] }) })
const pupil = world.spawn(
  ...agent({ model: 'script/student', tools: [takeNote], messages: 'The exam is on Friday.' }),
  Notes({ lines: [] }),
)
await run(world, { models: { script: student } })

console.log(`Notes: ${world.read(pupil, Notes).lines.join('; ')}`)
for (const message of world.read(pupil, Conversation)) {
  if (message.role === 'tool') console.log(`${message.name}: ${textOf(message)}`)
}

/*
Prints:
Notes: Exam on Friday
take_note: Noted.
*/
