import { Conversation, type Entity, type Message, type World } from 'entia'
import { Context } from 'entia/context'
import { OwnedBy, Requested, ToolCall, WatchdogState } from 'entia/components'
import { watchdog } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { keepNewestCall } from '../../../systems/context/call-runs.ts'
import { asking, listener, tickAt, told, worldOf } from '../one-tick.ts'

const context = Context({ watchdog: { mode: 'warn', threshold: 3 } })
const signals = [] as const
const result: Message = { role: 'tool', callId: 'call-0', name: 'look', content: [{ type: 'text', text: 'No.' }] }

function watched() {
  const world = worldOf(watchdog({ maxStartsPerTick: 9, signals }))
  const agent = listener(world, context)
  return { world, agent, looks: (at: number) => looks(world, agent, at) }
}

/** The agent's model looks somewhere, and is answered once that was seen. Gives what was told, and whether anything was noted. */
function looks(world: World, agent: Entity, at: number) {
  const before = world.get(agent, WatchdogState)
  world.append(agent, Conversation, asking({ name: 'look', arguments: { at } }))
  const asked = ToolCall({ arguments: { at }, callId: 'call-0', name: 'look' })
  const call = world.spawn(asked, OwnedBy({ agent }), Requested)
  const ticked = tickAt(world, 0)
  world.despawn(call)
  world.append(agent, Conversation, result)
  return { told: told(ticked), isNoted: world.get(agent, WatchdogState) !== before }
}

describe('the watchdog', () => {
  it('notes the first call of an agent, and nothing of those that differ from the one before', () => {
    const { looks: at } = watched()
    expect([1, 2, 3, 4].map((place) => at(place).isNoted)).toEqual([true, false, false, false])
  })

  it('counts a run from the call that nothing was noted of', () => {
    const { looks: at } = watched()
    expect([1, 2, 2, 2, 2].map((place) => at(place).told)).toEqual([[], [], [], ['watchdog-alerted'], []])
  })

  it('counts anew after a different call, and after it was reset', () => {
    const { world, agent, looks: at } = watched()
    for (const place of [1, 2, 2, 1, 2, 2]) expect(at(place).told).toEqual([])
    tickAt(world, 0, { kind: 'watchdog-reset', agent })
    expect([2, 2, 2].map((place) => at(place).told)).toEqual([[], [], ['watchdog-alerted']])
  })

  it('sees a call once, however long it waits to be decided about', () => {
    const { world, agent } = watched()
    world.append(agent, Conversation, asking({ name: 'look' }, { name: 'look' }))
    for (const callId of ['call-0', 'call-1']) {
      world.spawn(ToolCall({ arguments: {}, callId, name: 'look' }), OwnedBy({ agent }), Requested)
    }
    for (const nowMs of [0, 1, 2]) expect(told(tickAt(world, nowMs))).toEqual([])
    expect(world.read(agent, WatchdogState).signals).toMatchObject({ 'repeated-tool-call': { run: 2 } })
  })

  it('does not count what stood in the conversation before it saw the agent', () => {
    const { world, agent, looks: at } = watched()
    world.append(agent, Conversation, asking({ name: 'look', arguments: { at: 1 } }), result)
    expect([1, 1, 1].map((place) => at(place).told)).toEqual([[], [], ['watchdog-alerted']])
  })

  it('goes on with a run whose first call has left the conversation', () => {
    const { world, agent, looks: at } = watched()
    for (const place of [1, 2]) at(place)
    const { length } = world.read(agent, Conversation)
    keepNewestCall(world, agent, 1, length)
    world.splice(agent, Conversation, 1, length - 1, [])
    expect([2, 2].map((place) => at(place).told)).toEqual([[], ['watchdog-alerted']])
  })

  it('keeps nothing of a call that leaves where a later one stays', () => {
    const { world, agent, looks: at } = watched()
    for (const place of [1, 2]) at(place)
    const before = world.get(agent, WatchdogState)
    keepNewestCall(world, agent, 1, 3)
    expect(world.get(agent, WatchdogState)).toBe(before)
  })
})
