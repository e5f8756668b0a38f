import { afterAll, describe, expect, it } from 'vitest'
import {
  agent,
  fail,
  Runner,
  scripted,
  SessionPool,
  standardSystems,
  SubagentRegistry,
  World,
} from '../../../src/index.ts'
import * as components from '../../../components/index.ts'
import { inspect } from '../../../src/inspector/index.ts'
import { RunSource } from '../../../src/inspector/run-source.ts'
import { circleIn, type Wait, type WorldWaits } from '../../../src/inspector/reading/waits.ts'
import { waitsReply } from '../../../src/inspector/reading/waits-reply.ts'
import { closeBrowser, openPage } from './browser.ts'
import { expectShown } from './shown.ts'
import { deepTeam } from './deep-team.ts'

afterAll(closeBrowser)

const at = (url: string) => url.replace('#', '#view=waits&')

function waiting(
  world: string,
  wait: Omit<Wait, 'world' | 'what' | 'state'> & { readonly state?: Wait['state'] },
  hasSlot = false,
): WorldWaits {
  const own: Wait = { world, what: 'sessions', state: 'sessions', ...wait }
  return { world, tick: 1, nowMs: 0, dateMs: 0, path: [], hasSlot, waits: [own], names: {} }
}

describe('worlds that wait', () => {
  it('wait in a circle if each needs the next to end', () => {
    expect(circleIn([waiting('a', { on: ['b'] }), waiting('b', { on: ['c'] }), waiting('c', { on: ['a'] })])).toEqual([
      'a',
      'b',
      'c',
    ])
  })

  it('wait in no circle if the last of them only asks its model', () => {
    const chain = [waiting('a', { on: ['b'] }), waiting('b', { on: ['c'] }), waiting('c', { state: 'model' })]
    expect(circleIn(chain)).toEqual([])
  })

  it('wait in no circle if one of several sessions is enough, and one can end', () => {
    const any = { on: ['b', 'c'], isAny: true }
    expect(circleIn([waiting('a', any), waiting('b', { on: ['a'] }), waiting('c', { state: 'tool' })])).toEqual([])
    expect(
      circleIn([waiting('a', { on: ['b', 'c'] }), waiting('b', { on: ['a'] }), waiting('c', { state: 'tool' })]),
    ).toEqual(['a', 'b'])
  })

  it('wait in a circle if all slots are held by those who wait for a session without one', () => {
    const holder = (world: string, on: string) => waiting(world, { on: [on] }, true)
    const inLine = (world: string) => waiting(world, { state: 'slot' })
    expect(circleIn([holder('a', 'c'), holder('b', 'd'), inLine('c'), inLine('d')])).toEqual(['a', 'c'])
    const one = waiting('b', { state: 'model' }, true)
    expect(circleIn([holder('a', 'c'), one, inLine('c')])).toEqual([])
  })

  it('are none of a circle that they only wait for', () => {
    expect(circleIn([waiting('x', { on: ['a'] }), waiting('a', { on: ['b'] }), waiting('b', { on: ['a'] })])).toEqual([
      'a',
      'b',
    ])
  })
})

/** A world whose agent waits for a session of the other's name. */
function knot(name: string, other: string) {
  const world = new World({ name, seed: 1, systems: standardSystems() })
  const lead = world.spawn(...agent({ model: 'script/x', messages: 'Go.' }))
  const session = world.spawn(
    components.SubagentSession({
      category: 'scout',
      correlationId: 'c',
      createdAtMs: 0,
      kind: 'named',
      mode: 'background',
      model: 'script/x',
      parent: lead,
      prompt: `Wait for ${other}.`,
      sequence: 1,
      sessionId: other,
      startedAtMs: 0,
      status: 'running',
      updatedAtMs: 0,
    }),
    components.ActiveFor({ agent: lead }),
  )
  world.add(
    lead,
    components.SubagentWait({ deadlineMs: null, mode: 'all', sessions: [session], startedAtMs: 0, timeoutMs: null }),
  )
  const joint = JSON.stringify({ chain: '0', events: [], version: '0.1.0' })
  return { name, snapshot: { tick: 0, lines: [joint, ...world.snapshot()] }, rows: [] }
}

describe('waits of a tree', () => {
  it('stand behind those of the world that launched theirs', () => {
    const below = (world: string, ...path: readonly string[]) => ({ ...waiting(world, {}), path: [...path, world] })
    const found = [below('a', 'c'), waiting('root', {}), below('b', 'c', 'a'), below('c'), below('d')]
    const { worlds } = waitsReply(found, new Map())
    expect(worlds.map(({ world }) => world)).toEqual(['root', 'c', 'a', 'b', 'd'])
  })
})

describe('the view of waits', () => {
  it('shows a circle in red', async () => {
    const served = await inspect(
      new RunSource({ title: 'knot', worlds: [knot('left', 'right'), knot('right', 'left')] }),
    )
    {
      await using opened = await openPage(at(served.url))
      const { page } = opened
      await expectShown(page.getByRole('alert').getByText('These wait for each other'))
      expect(await page.getByRole('alert').getByRole('link').allInnerTexts()).toEqual(
        ['left', 'right', 'left'].map(() => 'scout'),
      )
      const rows = page.locator('[role=row][data-state=circle]')
      expect(await rows.count()).toBe(2)
      const red = await page.evaluate<string>(
        "getComputedStyle(document.documentElement).getPropertyValue('--state-failed')",
      )
      expect(
        await page.evaluate('getComputedStyle(document.querySelector("[role=row][data-state=circle]")).boxShadow'),
      ).toContain(rgbOf(red))
    }
    await served.close()
  })

  it('names what is waited for, down to the person', async () => {
    const team = await deepTeam()
    const served = await inspect(team.runner)
    {
      await using opened = await openPage(at(served.url))
      const { page } = opened
      await expectShown(page.getByRole('row', { name: /shipping.*waiting.*a session manager/ }))
      await expectShown(page.getByRole('row', { name: /manager.*waiting.*a session foreman/ }))
      await expectShown(page.getByRole('row', { name: /foreman.*waiting.*a session builder/ }))
      await expectShown(page.getByRole('row', { name: /builder.*approval.*a person, about deploy.*59 min/ }))
      // Sessions that only wait, for sessions or for a person, have given their slots back.
      await expectShown(page.getByText('0 of 5'))
    }
    await served.close()
    await team.runner.stop()
  })

  it('shows places in line for a slot, and how long a provider holds all calls', async () => {
    const lead = scripted(() => ({
      toolCalls: ['a', 'b', 'c'].map((prompt) => ({
        name: 'subagent',
        arguments: { category: 'scout', prompt: `Look at ${prompt}.` },
      })),
    }))
    const scout = scripted(() => fail('rate-limited', { retryAfterMs: 300_000 }), {
      retry: { maxAttempts: 3, firstDelayMs: 10, maxDelayMs: 10, kinds: ['rate-limited'] },
    })
    const world = new World({ name: 'line', seed: 1, systems: standardSystems() })
    world.spawn(
      ...agent({ model: 'lead/x', messages: 'Go.' }),
      SubagentRegistry({ subagents: { scout: { name: 'scout', model: 'scout/x' } } }),
    )
    const runner = new Runner(world, { models: { lead, scout }, sessionPool: new SessionPool({ cap: 1 }) })
    const held = new Promise<void>((resolve) => void runner.on('retry-scheduled', () => resolve()))
    await runner.start()
    await held
    const served = await inspect(runner)
    {
      await using opened = await openPage(at(served.url))
      const { page } = opened
      await expectShown(page.getByRole('row', { name: /scout Look at b.*a first slot place 1 of 2/ }))
      await expectShown(page.getByRole('row', { name: /scout Look at c.*a first slot place 2 of 2/ }))
      await expectShown(page.getByRole('row', { name: /scout Look at a.*try 2 of its model call.*(4 min|5 min)/ }))
      await expectShown(page.getByText(/^held for (4 min \d+ s|5 min 0 s)$/))
    }
    await served.close()
    await runner.stop()
  })

  it('shows what was waited for at an earlier tick', async () => {
    const team = await deepTeam()
    const served = await inspect(team.runner)
    {
      await using opened = await openPage(at(served.url))
      const { page } = opened
      await expectShown(page.getByRole('row', { name: /shipping.*a session manager/ }))
      const first = await page.evaluate(
        () => (globalThis as never as { entia: { world: { tick: number } } }).entia.world.tick,
      )
      await team.runner.change(() => undefined)
      await page.waitForFunction(
        (tick) => (globalThis as never as { entia: { world: { tick: number } } }).entia.world.tick > tick,
        first,
      )
      await page.keyboard.press('ArrowLeft')
      await expectShown(page.getByText(`of this world at tick ${first}`))
      await expectShown(page.getByRole('row', { name: /shipping.*a session/ }))
    }
    await served.close()
    await team.runner.stop()
  })
})

function rgbOf(hex: string): string {
  const parts = /^#(..)(..)(..)$/.exec(hex.trim())?.slice(1) ?? []
  return `rgb(${parts.map((part) => Number.parseInt(part, 16)).join(', ')})`
}
