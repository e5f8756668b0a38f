import { Conversation, defineComponent, EntiaError, scripted, standardSystems, textOf, World } from 'entia'
import { agent } from 'entia'
import { Permissions } from 'entia/components'
import { simulate } from 'entia/sim'
import { defineWorldTool } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { settled } from '../../behaviour/turns/driving.ts'

const Notes = defineComponent('Notes', z.strictObject({ lines: z.array(z.string()) }))

const takeNote = defineWorldTool({
  name: 'take_note',
  description: 'Writes a line.',
  input: z.object({ line: z.string().trim().min(1) }),
  run(world, { line }, { agent: writer, callId }) {
    if (line === 'secret') return { problem: 'that is not written down.' }
    world.patch(writer, Notes, { lines: [...world.read(writer, Notes).lines, line] })
    return `Noted by ${callId}.`
  },
})

const noting = (input: object) =>
  scripted(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? 'Done.'
      : { toolCalls: [{ id: 'c1', name: 'take_note', arguments: input as never }] },
  )

function pupil(tools = [takeNote]) {
  const world = new World({ systems: standardSystems({ worldTools: tools }) })
  const entity = world.spawn(...agent({ model: 's/x', tools, messages: 'Go' }), Notes({ lines: [] }))
  return { world, entity }
}

async function noted(input: object, change: (made: ReturnType<typeof pupil>) => void = () => undefined) {
  const made = pupil()
  change(made)
  const { world, entity } = made
  await settled(world, { models: { s: noting(input) } })
  const answers = world
    .read(entity, Conversation)
    .slice()
    .filter(({ role }) => role === 'tool')
  return { lines: world.read(entity, Notes).lines, answer: answers.map((message) => textOf(message)).join() }
}

describe('a tool that changes the world', () => {
  it('is answered in the tick of its call, with arguments as its schema gives them', async () => {
    expect(await noted({ line: ' Exam ' })).toEqual({ lines: ['Exam'], answer: 'Noted by c1.' })
  })

  it('refuses wrong arguments, and what it says is a problem, as an error', async () => {
    expect(await noted({ line: 7 })).toMatchObject({ lines: [], answer: expect.stringMatching(/^Error: .*line/) })
    expect(await noted({ line: 'secret' })).toEqual({ lines: [], answer: 'Error: that is not written down.' })
  })

  it('is called by no agent that may not', async () => {
    const denied = await noted({ line: 'x' }, ({ world, entity }) =>
      world.add(entity, Permissions({ denied: ['take_note'] })),
    )
    expect(denied).toEqual({ lines: [], answer: "Error: tool 'take_note' is not permitted." })
  })

  it('keeps all laws in a simulation', async () => {
    const { ok, violation } = await simulate({
      seed: 1,
      models: { s: noting({ line: 'x' }) },
      world: () => pupil().world,
      components: [Notes],
    })
    expect(ok, JSON.stringify(violation)).toBe(true)
  })

  it.each([
    [{ name: 'no name' }, 'name'],
    [{ input: z.string() }, 'object'],
    [{ run: 'x' }, 'run: must be a function'],
    [{ restart: 'once' }, 'restart'],
  ])('is refused as %j', (wrong, what) => {
    const options = { name: 'a', description: 'b', input: z.object({}), run: () => '', ...wrong } as never
    expect(() => defineWorldTool(options)).toThrow(EntiaError)
    expect(() => defineWorldTool(options)).toThrow(what)
  })

  it('has a name that no other has', () => {
    expect(() => standardSystems({ worldTools: [takeNote, takeNote] })).toThrow("'take_note': it is there twice")
    const recall = defineWorldTool({ name: 'recall', description: 'x', input: z.object({}), run: () => '' })
    expect(() => standardSystems({ worldTools: [recall] })).toThrow('one of the standard systems has it')
  })
})
