import { agent, type HostOptions, lastText, scripted, standardSystems, textOf, World } from 'entia'
import { Conversation } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { tool } from '../turns/tools.ts'
import { fleet } from './fleet.ts'

const say = (text: string) => ({ kind: 'message', message: { role: 'user', content: [{ type: 'text', text }] } })

function shop() {
  const begun = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  let runs = 0
  const pay = tool(
    'pay',
    async () => {
      runs++
      begun.resolve()
      await release.promise
      return 'paid'
    },
    { restart: 'once' },
  )
  const clerk = scripted(({ messages }) => {
    const last = messages.at(-1)
    return last?.role === 'tool' ? `It said: ${textOf(last)}` : { toolCalls: [{ name: 'pay' }] }
  })
  const host = (): HostOptions => ({ models: { shop: clerk }, tools: [pay] })
  const make = (name: string): World => {
    const world = new World({ name, systems: standardSystems() })
    world.spawn(...agent({ model: 'shop/clerk', tools: [pay] }))
    return world
  }
  return { ...fleet({ host, make }), begun: begun.promise, release: () => release.resolve(), runs: () => runs }
}

const words = (world: World): string | undefined => lastText(world, world.query(Conversation)[0] ?? 0)
const ended = (event: { readonly type: string }): boolean => event.type === 'turn-ended'

describe('a worker that is stopped while a tool runs that may run but once', () => {
  it('lets it end what it has begun, and hands the world on with its result', async () => {
    const { begun, next, post, read, release, runs, worker } = shop()
    const one = worker('one')
    await post('desk', say('Pay.'))
    await begun
    const stopping = one.stop(60_000)
    const end = next(ended)
    worker('two')
    release()
    await stopping
    await end
    expect(words(await read('desk'))).toBe('It said: paid')
    expect(runs()).toBe(1)
  })

  it('waits for it no longer than is allowed: then its outcome is unknown, and it never runs again', async () => {
    const { begun, next, post, read, runs, worker } = shop()
    const one = worker('one')
    await post('desk', say('Pay.'))
    await begun
    await one.stop(20)
    const end = next(ended)
    worker('two')
    await end
    expect(words(await read('desk'))).toMatch('it may have happened')
    expect(runs()).toBe(1)
  })
})
