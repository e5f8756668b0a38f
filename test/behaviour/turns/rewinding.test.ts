import { LastTurn, memoryStore, type ScriptedBehaviour, standardSystems, textOf, Usage } from 'entia'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { recordingOf } from '../../../src/engine/recording/recording.ts'
import { replay } from '../../../src/engine/recording/replay.ts'
import { seqAt } from '../../../src/rules/projection/places.ts'
import { expectValid, transcript } from '../../transcript.ts'
import { handover, living } from '../context/long-lives.ts'
import { behaving, driven, gate, mortal, reopened, worldWith } from './driving.ts'
import { tool } from './tools.ts'

const { Boundary, Rewound, Turn, Unread } = components

/** Says what it was told last. */
const echo: ScriptedBehaviour = ({ messages }) => `Heard ${textOf(messages.at(-1))}.`

/** An agent that was told `Go`, `One` and `Two`, and has answered each. */
async function talkedWith(options: Parameters<typeof driven>[1] = {}) {
  const { world, agent } = worldWith()
  const { models, requests } = behaving(echo, { usage: { input: 10, output: 1 } })
  const made = mortal(world, { models, ...options })
  await made.runner.start()
  await made.runner.idle()
  for (const text of ['One', 'Two']) {
    await made.runner.message(agent, text)
    await made.runner.idle()
  }
  const rewind = (messages: number, fromSeq?: number) =>
    made.runner.post({ kind: 'rewind', agent, messages, ...(fromSeq !== undefined && { fromSeq }) })
  return { ...made, agent, models, requests, rewind }
}

describe('a conversation that its user takes back', () => {
  it('ends before the message that they name, and goes on from there as if the rest had not been said', async () => {
    const { agent, requests, rewind, runner, told, world } = await talkedWith()
    await rewind(2)
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Heard Go.'])
    expect(told('rewound')).toMatchObject([{ agent, fromSeq: 3, toSeq: 6, messages: 4 }])
    expect(world.has(agent, Unread)).toBe(false)
    await runner.message(agent, 'Three')
    await runner.idle()
    expect(requests.at(-1)?.messages.map((message) => textOf(message))).toEqual(['Go', 'Heard Go.', 'Three'])
    expect(told('prefix-broken').at(-1)).toMatchObject({ component: 'Conversation' })
    await runner.stop()
  })

  it('keeps what was spent, and gives no message the number of another', async () => {
    const { agent, rewind, runner, world } = await talkedWith()
    const spent = world.read(agent, Usage)
    await rewind(1)
    await rewind(1)
    expect(world.read(agent, Usage)).toEqual(spent)
    expect(world.read(agent, Rewound).ranges).toEqual([{ fromSeq: 3, toSeq: 6 }])
    await runner.message(agent, 'Three')
    await runner.idle()
    expect(seqAt(world, agent, 2)).toBe(7)
    await rewind(2)
    expect(transcript(world, agent)).toEqual([])
    expect(world.read(agent, Rewound).ranges).toEqual([{ fromSeq: 1, toSeq: 8 }])
    await runner.message(agent, 'Anew')
    await runner.idle()
    expect([seqAt(world, agent, 0), transcript(world, agent).at(-1)]).toEqual([9, 'assistant: Heard Anew.'])
    await runner.stop()
  })

  it('stays as it is where less was said, or it is not where the user saw it', async () => {
    const { agent, rewind, runner, told, world } = await talkedWith()
    await rewind(4)
    await rewind(1, 3)
    expect(transcript(world, agent)).toHaveLength(6)
    expect(told('input-refused').map(({ reason }) => reason)).toEqual([
      'its user has not said so much',
      'the conversation has changed meanwhile',
    ])
    await runner.stop()
  })

  it('in a turn ends the turn first; of a message said in it, what stays is closed', async () => {
    const open = gate()
    const dig = tool('dig', async () => open.promise.then(() => 'Dug.'))
    const { world, agent } = worldWith({ tools: [dig] })
    const { models } = behaving(({ messages }) =>
      messages.length === 1 ? { toolCalls: [{ name: 'dig' }] } : { toolCalls: [{ name: 'dig', arguments: {} }] },
    )
    const { next, runner } = driven(world, { models, tools: [dig] })
    const called = next('tool-called')
    await runner.start()
    await called
    await runner.message(agent, 'Deeper')
    await runner.post({ kind: 'rewind', agent, messages: 1 })
    open.resolve()
    await runner.idle()
    expect(transcript(world, agent).slice(2)).toEqual([
      'tool call-1-0!: [cancelled by the user]',
      'assistant: [turn cancelled]',
    ])
    expect([world.has(agent, Turn), world.read(agent, LastTurn).stop]).toEqual([false, 'cancelled'])
    expectValid(world, agent)
  })

  it('gets back what a summary stood for, which goes with what it covers', async () => {
    const { agent, runner, steps, world } = await living({ answer: echo })
    await runner.message(agent, 'Look')
    await runner.idle()
    const before = transcript(world, agent).slice(0, -2)
    await runner.compact(agent)
    expect(world.read(agent, Boundary)).toMatchObject([{ text: handover }])
    await runner.post({ kind: 'rewind', agent, messages: 1 })
    expect(world.has(agent, Boundary)).toBe(false)
    expect(transcript(world, agent)).toEqual(before)
    await runner.message(agent, 'Once more')
    await runner.idle()
    expect(steps.at(-1)?.messages.map((message) => textOf(message))).not.toContain(handover)
    expect(steps.at(-1)?.messages.length).toBe(before.length + 1)
  })

  it('is the same after a crash, and in a replay', async () => {
    const store = memoryStore()
    const { agent, models, rewind, runner, world } = await talkedWith({ store })
    await rewind(1)
    await runner.stop()
    const { runner: later, world: restored } = await reopened(store, { models })
    expect(transcript(restored, agent)).toEqual(transcript(world, agent))
    await later.start()
    await later.message(agent, 'Three')
    await later.idle()
    await later.stop()
    expect(transcript(restored, agent).slice(-2)).toEqual(['user: Three', 'assistant: Heard Three.'])
    const again = replay(await recordingOf(store, 'world'), { systems: standardSystems(), components })
    expect(again.difference).toBeUndefined()
    expect(again.worlds.length).toBe(1)
  })

  it('of what is no agent is refused', async () => {
    const { world } = worldWith()
    const { runner, told } = driven(world, { models: behaving(echo).models })
    await runner.start()
    await runner.post({ kind: 'rewind', agent: 99, messages: 1 })
    expect(told('input-refused')).toMatchObject([{ kind: 'rewind', reason: 'there is no such agent' }])
  })
})
