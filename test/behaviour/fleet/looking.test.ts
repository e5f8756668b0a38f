import { agent, EntiaError, scripted, standardSystems, World } from 'entia'
import { describe, expect, it, vi } from 'vitest'
import { fleet } from './fleet.ts'

const host = () => ({ models: { script: scripted(() => 'heard') } })

function make(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(...agent({ model: 'script/any' }))
  return world
}

const message = { kind: 'message', agent: 1, message: { role: 'user', content: [{ type: 'text', text: 'Hello?' }] } }

describe('a worker', () => {
  it('takes nothing before it knows what the others can: what they have would look as if it were gone', async () => {
    const { next, post, worker } = fleet({ host, make })
    const known = Promise.withResolvers<void>()
    const asked: string[] = []
    const end = next(({ type }) => type === 'turn-ended')
    worker('one', {
      through: (board) => ({
        ...board,
        due: (...given) => {
          asked.push('due')
          return board.due(...given)
        },
        state: async () => {
          asked.push('state')
          if (asked.length > 2) known.resolve()
          await known.promise
          return board.state()
        },
      }),
    })
    await post('desk', message)
    // It looks around more than once, each half a second.
    await known.promise
    expect(asked).not.toContain('due')
    await end
    expect(asked).toContain('due')
  })

  it('says what its board refuses, once where it is the same each time, and tries again', async () => {
    const { next, post, worker } = fleet({ host, make })
    const refused = (what: string) => new EntiaError('store-failed', what)
    const errors = [refused('away'), refused('away'), refused('full'), refused('away')]
    const failed = vi.fn<(error: unknown) => void>()
    const end = next(({ type }) => type === 'turn-ended')
    worker('one', {
      failed,
      through: (board) => ({
        ...board,
        next: async (asking) => {
          const error = errors.shift()
          if (error !== undefined) throw error
          return board.next(asking)
        },
      }),
    })
    await post('desk', message)
    await end
    expect(failed.mock.calls.map(([error]) => (error as Error).message)).toEqual(['away', 'full', 'away'])
  })
})
