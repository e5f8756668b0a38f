import { describe, expect, it } from 'vitest'
import {
  Archive,
  ArchiveJob,
  Conversation,
  HolderDraft,
  ToolRegistry,
  DraftOf,
  HolderOf,
} from '../../components/index.ts'
import { countUpTo } from '../../src/rules/projection/places.ts'
import { simulate, type Violation } from '../../src/sim/index.ts'
import { archivedTurnsKept } from '../../src/sim/laws/archived-turns-kept.ts'
import { standardSystems } from '../../systems/index.ts'
import { Seed } from '../../components/context/holder.ts'
import type { World } from '../../src/world/world.ts'
import type { System } from '../../src/world/world.ts'
import { archivalStory } from '../stories/told/archival.ts'
import { underLaw, worldOf } from './law-under-test.ts'

interface Mutation {
  readonly what: string
  readonly law: string
  readonly systems: () => System[]
}

function behind(name: string, priority: number, run: (world: World) => void): () => System[] {
  return () => [...standardSystems(), { name, priority, run }]
}

const mutations: readonly Mutation[] = [
  {
    what: 'a turn that is cut before it has moved',
    law: 'archived-turns-kept',
    systems: behind('cuts', 13, (world) => {
      if (world.tick % 5 !== 0) return
      for (const job of world.query(ArchiveJob)) {
        const { agent, toSeq } = world.read(job, ArchiveJob)
        world.splice(agent, Conversation, countUpTo(world, agent, toSeq) - 1, 1, [])
      }
    }),
  },
  {
    what: 'a turn that is archived twice',
    law: 'archived-turns-kept',
    systems: behind('repeats', 13, (world) => {
      for (const agent of world.query(Archive)) {
        const last = world.read(agent, Archive).at(-1)
        if (last?.status === 'archived' && last.atMs === world.nowMs) world.append(agent, Archive, last)
      }
    }),
  },
  {
    what: 'a placeholder that names nobody',
    law: 'archived-turns-kept',
    systems: behind('hides', 13, (world) => {
      for (const agent of world.query(HolderOf).map((session) => world.read(session, HolderOf).agent)) {
        const messages = world.read(agent, Conversation)
        const at = messages.findIndex(({ content }) => JSON.stringify(content).includes('[archived turn]'))
        if (at !== -1)
          world.splice(agent, Conversation, at, 1, [{ role: 'assistant', content: [{ type: 'text', text: 'Gone.' }] }])
      }
    }),
  },
  {
    what: 'a holder that is left behind',
    law: 'holders-accounted',
    systems: () =>
      standardSystems().map((system) =>
        system.name === 'archival'
          ? {
              ...system,
              run: (world: World) => {
                system.run(world)
                // Nobody remembers what was to be removed.
                for (const draft of world.query(HolderDraft)) if (!world.has(draft, DraftOf)) world.despawn(draft)
              },
            }
          : system.name === 'archive-jobs'
            ? {
                ...system,
                run: (world: World) => {
                  // Jobs that are forgotten once their holder is there.
                  system.run(world)
                  for (const draft of world.query(DraftOf)) {
                    const { job } = world.read(draft, DraftOf)
                    if (world.tick % 7 === 0) world.despawn(job)
                  }
                },
              }
            : system,
      ),
  },
  {
    what: 'a holder that has tools',
    law: 'holders-without-tools',
    systems: behind('arms', -20, (world) => {
      for (const agent of world.query(Seed)) {
        const inputSchema = { type: 'object', properties: {} }
        const tool = { name: 'look', description: '', inputSchema, restart: 'pure' as const }
        if (!world.has(agent, ToolRegistry)) world.set(agent, ToolRegistry, { tools: [tool] })
      }
    }),
  },
]

describe('a law about archived turns', () => {
  it.each(mutations)('is broken by $what: $law', async ({ law, systems }) => {
    let found: Violation | undefined
    for (let seed = 1; seed <= 20 && found?.law !== law; seed++) {
      const { faults: _, ...calm } = archivalStory(systems())
      const result = await simulate({ ...calm, seed })
      found = result.violation
    }
    expect(found?.law).toBe(law)
  })

  it('is broken by a turn that went nowhere', () => {
    const entry = {
      atMs: 0,
      fromSeq: 1,
      reason: 'tokens' as const,
      status: 'archived' as const,
      subagentId: 'session-00000000000000aa',
      task: 'Archive: a',
      toSeq: 2,
    }
    const world = worldOf((given) => given.append(1, Archive, entry))
    world.spawn(Conversation([]))
    const law = underLaw(archivedTurnsKept, world)
    law.begin()
    expect(law.tick()).toBe('a turn is archived that was on its way to no holder: session-00000000000000aa')
  })
})
