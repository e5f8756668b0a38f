import { memoryStore } from 'entia'
import { Conversation, LastTurn } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { driven, reopened, worldWith } from '../behaviour/turns/driving.ts'
import { tool } from '../behaviour/turns/tools.ts'
import type { JsonBody } from '../servers/loopback.ts'
import { refusal, type Said, startScriptedServer } from '../servers/scripted-server.ts'
import { repliesIn } from './answered.ts'
import { hasSeal, sealedWires } from './sealed-wires.ts'

const add = tool('add', () => '3')

/** Ids of all calls and results of a request, each as often as it is there. */
function idsIn(body: JsonBody | undefined): readonly string[] {
  const text = JSON.stringify(body)
  return [...text.matchAll(/"(?:id|call_id|tool_call_id|tool_use_id)":"([^"]+)"/g)].map(([, id = '']) => id)
}

describe.each(sealedWires)('a conversation over $wire.name that its user takes back', ({ calls, wire, words }) => {
  /** Each turn calls a tool under the id that the one before it had, and gets a seal of its own: sealA, sealB … */
  const talking = async (refuses: (body: JsonBody) => boolean = () => false) => {
    let turn = 0
    let isCalling = false
    const server = await startScriptedServer((body): string | Said => {
      if (refuses(body)) return refusal(words)
      isCalling = !isCalling
      return isCalling ? calls('add', `seal${'ABCD'[turn++]}`, {}, 'call_0') : wire.text(`Sum ${turn}.`)
    })
    const store = memoryStore()
    const { world, agent } = worldWith({ model: `${wire.name}/m`, messages: 'Add.', tools: [add] })
    const options = { models: { [wire.name]: wire.make(server.url) }, tools: [add] }
    const { runner } = driven(world, { ...options, store })
    const say = async (text: string) => {
      await runner.message(agent, text)
      await runner.idle()
      expect(world.read(agent, LastTurn).stop).toBe('done')
    }
    await runner.start()
    await runner.idle()
    await say('Twice.')
    await runner.post({ kind: 'rewind', agent, messages: 1 })
    await runner.idle()
    return { agent, options, runner, say, server, store, world }
  }

  it('goes on with the thinking and fields of what stays, and without those of what does not', async () => {
    const { say, server } = await talking()
    await say('Otherwise.')
    const [asked, answered] = server.bodies.slice(-2) as [JsonBody, JsonBody]
    for (const body of [asked, answered]) {
      expect([hasSeal(body, 'sealA'), hasSeal(body, 'sealB')]).toEqual([true, false])
      expect(JSON.stringify(body)).not.toMatch(/Twice|Sum 2/)
    }
    expect(hasSeal(answered, 'sealC')).toBe(true)
    // What stays is, byte for byte, what was sent before.
    const before = repliesIn(server.bodies[2], wire)
    expect(repliesIn(asked, wire)).toEqual(before)
    // Two calls and their results, whatever ids the server gave.
    const ids = idsIn(answered).filter((id) => !/^(rs|fc|msg)_/.test(id))
    expect([ids.length, new Set(ids).size]).toEqual([4, 2])
  })

  it('is the same over a restart behind the gap', async () => {
    const { agent, options, say, server, store, runner } = await talking()
    await say('Otherwise.')
    const sent = server.bodies.at(-1) as JsonBody
    await runner.stop()
    const again = await reopened(store, options)
    await again.runner.start()
    await again.runner.message(agent, 'And now?')
    await again.runner.idle()
    expect(again.world.read(agent, LastTurn).stop).toBe('done')
    const next = server.bodies.at(-2) as JsonBody
    expect(JSON.stringify(repliesIn(next, wire))).toContain(JSON.stringify(repliesIn(sent, wire)).slice(1, -1))
    const ids = idsIn(server.bodies.at(-1)).filter((id) => !/^(rs|fc|msg)_/.test(id))
    expect([ids.length, new Set(ids).size]).toEqual([6, 3])
  })

  it('is refused what it had refused before at the price of one call, and nothing of what was taken back', async () => {
    let isMoved = false
    const { agent, say, server, world } = await talking((body) => isMoved && hasSeal(body, 'sealA'))
    isMoved = true
    const count = server.bodies.length
    await say('Otherwise.')
    expect(server.bodies).toHaveLength(count + 3)
    await say('And now?')
    expect(server.bodies).toHaveLength(count + 5)
    expect(hasSeal(server.bodies.at(-1) as JsonBody, 'sealA')).toBe(false)
    expect(hasSeal(server.bodies.at(-1) as JsonBody, 'sealC')).toBe(true)
    expect(JSON.stringify(world.read(agent, Conversation))).not.toContain('sealB')
  })
})
