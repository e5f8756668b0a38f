import {
  agent,
  Conversation,
  defineComponent,
  run,
  scripted,
  standardSystems,
  type System,
  textOf,
  type ToolDeclaration,
  World,
} from 'entia'
import { Outcome, OwnedBy, Requested, ToolCall } from 'entia/components'
import { z } from 'zod'

// A tool that changes the world. It has no handler on the Host: a system answers the call in the tick in which it is made, so
// the change and the answer are saved together or not at all, and no restart class is needed.

const Notes = defineComponent('Notes', z.strictObject({ lines: z.array(z.string()) }))

const takeNote: ToolDeclaration = {
  name: 'take_note',
  description: 'Writes a line into your notes.',
  inputSchema: z.toJSONSchema(z.object({ line: z.string() })) as ToolDeclaration['inputSchema'],
  restart: 'pure',
  world: true,
}
const Arguments = z.strictObject({ line: z.string() })

const noteTaking: System = {
  name: 'note-taking',
  // Behind `reply` (-80), which makes calls, and before `toolExecution` (5), which refuses tools without a handler.
  priority: 4,
  wakes: [[Requested, Notes]],
  run(world) {
    for (const call of world.query(ToolCall, Requested)) {
      const { name, arguments: input } = world.read(call, ToolCall)
      if (name !== takeNote.name) continue
      const { agent: writer } = world.read(call, OwnedBy)
      const { data, error } = Arguments.safeParse(input)
      world.remove(call, Requested)
      if (data !== undefined) world.patch(writer, Notes, { lines: [...world.read(writer, Notes).lines, data.line] })
      const text = data === undefined ? `Error: ${error.message}` : 'Noted.'
      const value = { content: [{ type: 'text', text }], isError: data === undefined }
      world.add(call, Outcome({ ok: true, value }))
      world.requestTick()
    }
  },
}

const student = scripted(({ messages }) => {
  if (messages.at(-1)?.role === 'tool') return 'I have noted it.'
  return { toolCalls: [{ name: 'take_note', arguments: { line: 'Exam on Friday' } }] }
})

const world = new World({ systems: [...standardSystems(), noteTaking] })
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
