import { LastTurn } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { driven, worldWith } from '../behaviour/turns/driving.ts'
import { defineTool } from 'entia'
import { z } from 'zod'
import { refusal, startScriptedServer } from '../servers/scripted-server.ts'
import { failureOf, requestOf, userSays } from './model-calls.ts'
import { wiresOfOthers } from './wires-of-others.ts'
import { add } from './wire-samples.ts'

const open = defineTool({
  name: 'open',
  description: 'Opens.',
  input: z.object({ url: z.url(), size: z.number().gt(0).optional() }),
  restart: 'pure',
  run: () => 'Opened.',
})

describe.each(wiresOfOthers)('a server of $name that refuses a schema', (wire) => {
  it.each([
    ['tools.function.parameters is not a valid moonshot flavored json schema, details: <At path root>', 400],
    ['Invalid JSON payload received. Unknown name "format" at \'tools[0].function_declarations[0].parameters\'', 400],
    ["Invalid schema for function 'open': In context=('properties', 'url'), 'format' is not permitted.", 400],
    ['tools.0.custom.input_schema: JSON schema is invalid.', 400],
    ['failed to parse grammar of tool open', 500],
  ])('gets it in plain words from then on: %s', async (words, status) => {
    const server = await startScriptedServer((body) =>
      /"format"|"exclusiveMinimum"/.test(JSON.stringify(body['tools']))
        ? refusal(words, {}, status)
        : wire.text('Fine.'),
    )
    const { world, agent } = worldWith({ model: `${wire.name}/m`, tools: [open] })
    const { runner } = driven(world, { models: { [wire.name]: wire.make(server.url) }, tools: [open] })
    await runner.start()
    await runner.idle()
    await runner.message(agent, 'And now?')
    await runner.idle()
    expect(world.read(agent, LastTurn).stop).toBe('done')
    // One refusal for both turns, and all else stays.
    expect(server.bodies).toHaveLength(3)
    expect(JSON.stringify(server.bodies[2]?.['tools'])).toContain('"url"')
    const [refused, taken] = server.bodies.map((body) => ({ ...body, tools: [] }))
    expect(taken).toEqual(refused)
  })

  it('still is answered twice alone, and one without tools once', async () => {
    const words = 'Invalid schema for function: parameters'
    for (const tools of [[add], []]) {
      const server = await startScriptedServer(() => refusal(words))
      const request = requestOf([userSays('Go.')], { tools })
      expect((await failureOf(wire.make(server.url), request)).kind).toBe('invalid-request')
      expect(server.bodies).toHaveLength(tools.length + 1)
    }
  })
})
