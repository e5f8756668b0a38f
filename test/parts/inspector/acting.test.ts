import { request } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import {
  agent,
  memoryStore,
  Runner,
  scripted,
  standardSystems,
  SubagentRegistry,
  textOf,
  World,
} from '../../../src/index.ts'
import * as components from '../../../components/index.ts'
import { restored } from '../../../src/engine/loop/stored-ticks.ts'
import { inspect } from '../../../src/inspector/index.ts'
import type { Action } from '../../../src/inspector/reading/wire.ts'
import { closeBrowser, openPage } from './browser.ts'
import { client, finishedRun } from './copied-runs.ts'

const { Conversation, DelegationLimits, LastTurn, Paused, SubagentSession } = components

afterAll(closeBrowser)

/** Sends a request as any program can, with headers that a browser would not let a page choose. */
function send(
  url: string,
  path: string,
  { body, headers = {} }: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const asked = request(
      { hostname, port, path, method: body === undefined ? 'GET' : 'POST', headers },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
}

function tokenOf(url: string): string {
  return new URLSearchParams(new URL(url).hash.slice(1)).get('token') ?? ''
}

/** A team of three levels whose lowest agent thinks until it is let go. */
async function deepTeam() {
  const reached = Promise.withResolvers<string>()
  const letGo = Promise.withResolvers<void>()
  const thinker = scripted(async ({ messages }, { signal }) => {
    const level = Number(/level (\d)/.exec(textOf(messages[0]))?.[1] ?? 0)
    const last = messages.at(-1)
    if (level < 2 && last?.role !== 'tool')
      return {
        toolCalls: [{ name: 'subagent', arguments: { category: 'deep', prompt: `You are level ${level + 1}.` } }],
      }
    if (level === 2 && last?.role === 'user' && messages.length === 1) {
      reached.resolve('')
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true })
        void letGo.promise.then(resolve)
      })
    }
    return `${level}: ${textOf(last)}`
  })
  const world = new World({ name: 'team', seed: 2, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'script/x', messages: 'You are level 0.' }),
    SubagentRegistry({ subagents: { deep: { name: 'deep', inheritancePolicy: { inheritTools: ['subagent'] } } } }),
    DelegationLimits({ depth: 3 }),
  )
  const runner = new Runner(world, { models: { script: thinker }, store: memoryStore() })
  await runner.start()
  await reached.promise
  const names = [...runner.host.driven.values()].toSorted((a, b) => a.path.length - b.path.length)
  return { runner, letGo: letGo.resolve, deep: names.at(-1)?.world as World }
}

describe('acting through the inspector', { timeout: 60_000 }, () => {
  it('is refused with 403 to another origin, a wrong token, another Host and where actions are off, and nothing changes', async () => {
    const runner = await finishedRun('walk', 2, memoryStore())
    const post = JSON.stringify({ do: 'post', world: 'walk', agent: 1, text: 'Go on.' } satisfies Action)
    const hash = runner.world.hash()
    const served = await inspect(runner, { actions: true })
    const authorization = `Bearer ${tokenOf(served.url)}`
    const given: readonly Readonly<Record<string, string>>[] = [
      {},
      { authorization: 'Bearer wrong' },
      { authorization: `Bearer ${tokenOf(served.url).slice(0, -1)}` },
      { authorization, origin: 'https://evil.example' },
      { authorization, host: 'evil.example' },
      { cookie: `token=${tokenOf(served.url)}` },
    ]
    for (const headers of given) {
      for (const [path, body] of [['/api/act', post], ['/api/source'], ['/api/live?world=walk']] as const) {
        const { status, text } = await send(served.url, path, { headers, ...(body !== undefined && { body }) })
        expect([status, path], JSON.stringify(headers)).toEqual([403, path])
        expect(text).not.toContain(tokenOf(served.url))
      }
    }
    const inAddress = await send(served.url, `/api/source?token=${tokenOf(served.url)}`)
    expect(inAddress.status).toBe(403)
    await served.close()
    const quiet = await inspect(runner)
    for (const action of [post, JSON.stringify({ do: 'fork', world: 'walk', tick: 1, driver: 'none' })]) {
      const headers = { authorization: `Bearer ${tokenOf(quiet.url)}` }
      const { status, text } = await send(quiet.url, '/api/act', { headers, body: action })
      expect([status, JSON.parse(text)]).toMatchObject([403, { code: 'forbidden' }])
    }
    {
      await using opened = await openPage(quiet.url)
      await opened.page.getByRole('row', { name: /walk/ }).waitFor()
      expect(await opened.page.getByRole('button', { name: 'Act' }).count()).toBe(0)
      expect(opened.asked.join(' ')).not.toContain(tokenOf(quiet.url))
    }
    await quiet.close()
    expect(runner.world.hash()).toBe(hash)
    await runner.stop()
  })

  it('takes nothing but what its schema says', async () => {
    const runner = await finishedRun('walk', 2, memoryStore())
    const served = await inspect(runner, { actions: true })
    const { ask } = client(served.url)
    const given: readonly (readonly [unknown, string])[] = [
      [{ do: 'explode' }, 'do'],
      [{ do: 'post', world: 'walk', agent: '1', text: 'x' }, 'agent'],
      [{ do: 'post', world: 'walk', agent: 1, text: '' }, 'text'],
      [{ do: 'pause', world: 'walk', agent: 1, for: 5 }, 'for'],
      [{ do: 'cancel-session', world: 'walk', reason: 'No one reads it.' }, 'reason'],
      [{ do: 'answer', answers: [] }, 'answers'],
      [{ do: 'reset-ceiling', world: 'walk', agent: 1, addSessionUsd: -1 }, 'addSessionUsd'],
      [{ do: 'fork', world: 'walk', tick: 1.5, driver: 'none' }, 'tick'],
      [null, 'act'],
    ]
    const hash = runner.world.hash()
    for (const [body, field] of given) {
      const reply = await ask('act', { method: 'POST', body: JSON.stringify(body) })
      const { code, message } = (await reply.json()) as { readonly code: string; readonly message: string }
      expect([reply.status, code], JSON.stringify(body)).toEqual([400, 'invalid-argument'])
      expect(message).toContain(field)
    }
    expect(runner.world.hash()).toBe(hash)
    await served.close()
    await runner.stop()
  })

  it('posts, pauses, lets go on and cancels from the menu of the world that is shown', async () => {
    const runner = await finishedRun('walk', 2, memoryStore())
    const served = await inspect(runner, { actions: true })
    {
      await using opened = await openPage(served.url)
      const { page } = opened
      const menu = async (item: string): Promise<void> => {
        await page.getByRole('button', { name: 'Act' }).click()
        await page.getByRole('menuitem', { name: item }).click()
      }
      await page.getByRole('row', { name: /walk.*done/ }).waitFor()
      await menu('Pause')
      await page.getByRole('row', { name: /walk.*paused/ }).waitFor()
      expect(runner.world.has(1, Paused)).toBe(true)
      await menu('Post a message…')
      await page.getByRole('dialog').getByLabel('Message').fill('And now west.')
      await page.getByRole('button', { name: 'Post a message' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await menu('Let it go on')
      await runner.idle()
      expect(
        runner.world
          .read(1, Conversation)
          .filter(({ role }) => role === 'user')
          .map(textOf),
      ).toEqual(['north', 'And now west.'])
      await menu('Cancel an agent’s turn…')
      await page.getByText('That cannot be taken back.').waitFor()
      await page.getByRole('button', { name: 'Back', exact: true }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await served.close()
    await runner.stop()
  })

  it('reaches an agent two levels down, and ends its session', async () => {
    const { deep, runner } = await deepTeam()
    const served = await inspect(runner, { actions: true })
    const { act } = client(served.url)
    expect(await act({ do: 'pause', world: deep.name, agent: 1 })).toMatchObject({ ok: true })
    expect(deep.has(1, Paused)).toBe(true)
    await act({ do: 'go-on', world: deep.name, agent: 1 })
    expect(deep.has(1, Paused)).toBe(false)
    expect(await act({ do: 'post', world: deep.name, agent: 1, text: 'Hurry.' })).toMatchObject({
      ok: true,
      tick: deep.tick,
    })
    {
      await using opened = await openPage(served.url.replace('#', `#world=${deep.name}&`))
      const { page } = opened
      await page.getByRole('button', { name: 'Act' }).click()
      await page.getByRole('menuitem', { name: 'Cancel this session…' }).click()
      expect(await page.getByRole('dialog').getByRole('textbox').count()).toBe(0)
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel this session' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await runner.idle()
    const middle = await stateOf(runner)
    expect(middle).toBe('cancelled')
    await served.close()
    await runner.stop()
  })

  it('cancels the turn of an agent two levels down, for a reason', async () => {
    const { deep, runner } = await deepTeam()
    const served = await inspect(runner, { actions: true })
    const { act } = client(served.url)
    expect(await act({ do: 'cancel', world: deep.name, agent: 1, reason: 'Enough.' })).toMatchObject({ ok: true })
    await runner.idle()
    expect(deep.get(1, LastTurn)).toMatchObject({ stop: 'cancelled' })
    expect(await act({ do: 'cancel', world: deep.name, agent: 1 })).toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining('is not driven here now') as string,
    })
    await served.close()
    await runner.stop()
  })
})

/** How the session two levels down has ended, as the world above it says. */
async function stateOf(runner: Runner): Promise<string | undefined> {
  const store = [...runner.host.driven.values()][0]?.store
  const [first] = runner.world.entitiesWith(SubagentSession)
  const { sessionId } = runner.world.read(first as number, SubagentSession)
  const saved = await store?.read(sessionId, { root: 'team' })
  if (saved === undefined) return undefined
  const { world } = restored(sessionId, saved, { systems: [], components: Object.values(components) })
  const [session] = world.entitiesWith(SubagentSession)
  return world.get(session as number, SubagentSession)?.status
}
