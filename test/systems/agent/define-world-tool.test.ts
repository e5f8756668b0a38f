import {
  Conversation,
  defineComponent,
  EntiaError,
  scripted,
  type StandardSchema,
  standardSystems,
  textOf,
  World,
} from 'entia'
import { agent } from 'entia'
import { Permissions } from 'entia/components'
import { simulate } from 'entia/sim'
import { defineWorldTool } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
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

type AnyInput = Parameters<typeof defineWorldTool>[0]['input']

/** A schema of a maker of the test. */
function lines(validate: (value: unknown) => unknown): StandardSchema {
  const jsonSchema = { input: () => ({ type: 'object', properties: { line: { type: 'string' } } }) }
  return { '~standard': { version: 1, vendor: 'acme', validate, jsonSchema } }
}

const tooLate =
  "Error: Invalid arguments for 'take_note': its schema takes its time, and a call that is answered in its tick cannot wait"

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

  it.each<[string, AnyInput, string]>([
    ['JSON Schema', { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] }, 'Got x.'],
    ['zod/mini', mini.object({ line: mini.string() }), 'Got x.'],
    ['another maker', lines((value) => ({ value })), 'Got x.'],
    [
      'another maker, which it does not fit',
      lines(() => ({ issues: [{ message: 'is no line', path: ['line'] }] })),
      "Error: Invalid arguments for 'take_note': line: is no line",
    ],
    ['a maker that checks later', lines(async (value) => ({ value })), tooLate],
    ['zod that checks later', z.object({ line: z.string().refine(async () => true) }), tooLate],
  ])('takes a schema of %s', async (_, input, answer) => {
    const run = (_world: World, given: unknown): string => `Got ${String(Object(given).line)}.`
    const tool = defineWorldTool({ name: 'take_note', description: 'Writes a line.', input, run })
    const { world, entity } = pupil([tool])
    await settled(world, { models: { s: noting({ line: 'x' }) } })
    expect(
      world
        .read(entity, Conversation)
        .slice()
        .filter(({ role }) => role === 'tool')
        .map((message) => textOf(message)),
    ).toEqual([answer])
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
