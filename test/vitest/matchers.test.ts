import 'entia/vitest'
import { agent, defineTool, scripted, standardSystems, SubagentRegistry, World } from 'entia'
import { law, simulate, type SimulateOptions, sweep } from 'entia/sim'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const search = defineTool({
  name: 'search',
  description: 'Searches.',
  input: z.object({ word: z.string(), limit: z.number() }),
  restart: 'pure',
  run: ({ word }) => `${word} is a bird`,
})

/** A lead that sends a scout to search for a word, and repeats what it found. */
const story: SimulateOptions = {
  world: (seed) => {
    const world = new World({ name: 'team', seed, systems: standardSystems() })
    const scout = { name: 'scout', model: 'scout/x', tools: ['search'] }
    world.spawn(...agent({ model: 'lead/x', messages: 'What is an erne?' }), SubagentRegistry({ subagents: { scout } }))
    return world
  },
  models: {
    lead: scripted(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool') return 'The scout says: a bird.'
      return { toolCalls: [{ name: 'subagent', arguments: { category: 'scout', prompt: 'erne', background: false } }] }
    }),
    scout: scripted(({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? 'An erne is a bird.'
        : { toolCalls: [{ name: 'search', arguments: { word: 'erne', limit: 3 } }] },
    ),
  },
  tools: [search],
}
const result = await simulate(story)

describe('a simulated run', () => {
  it('has answered what any of its agents has answered', () => {
    expect(result).toHaveAnswered('a bird')
    expect(result).toHaveAnswered(/^An erne/)
    expect(result.world).toHaveAnswered('The scout says', 1)
    expect(result.world).not.toHaveAnswered('An erne')
    expect(result).not.toHaveAnswered('An erne', 1)
  })

  it('has called the tools that its models have called, sessions included', () => {
    expect(result).toHaveCalled('search')
    expect(result).toHaveCalled('search', { word: 'erne' })
    expect(result).toHaveCalled('search', { word: expect.stringMatching(/^e/) as never })
    expect(result).not.toHaveCalled('search', { word: 'owl' })
    expect(result).not.toHaveCalled('delete')
    expect(result.world).not.toHaveCalled('search')
  })

  it('has the sessions that its agents have launched', () => {
    expect(result).toHaveSession({ category: 'scout', status: 'succeeded' })
    expect(result.world).toHaveSession({ prompt: 'erne' })
    expect(result).not.toHaveSession({ status: 'failed' })
  })

  it('has kept all laws, or is reported on', async () => {
    expect(result).toHaveKeptLaws()
    const broken = await sweep({ ...story, seeds: 3, shrink: false, laws: [law('nothing happens', () => false)] })
    expect(broken).not.toHaveKeptLaws()
    expect(() => expect(broken).toHaveKeptLaws()).toThrow('A law was broken: nothing happens')
    expect(() => expect(result).not.toHaveKeptLaws()).toThrow('expected a law to have been broken')
  })
})

describe('a matcher that fails', () => {
  it('says what there was instead', () => {
    expect(() => expect(result).toHaveAnswered('a fish')).toThrow(
      'expected an agent to have answered "a fish"; there was:\n  team, agent 1: "The scout says: a bird."',
    )
    expect(() => expect(result).toHaveCalled('search', { word: 'owl' })).toThrow('search({"limit":3,"word":"erne"})')
    expect(() => expect(result).toHaveSession({ status: 'failed' })).toThrow('session 1: scout, succeeded, "erne"')
    expect(() => expect(result).not.toHaveCalled('search')).toThrow("'search' never to have been called")
  })

  it('names an asymmetric matcher', () => {
    const fish = expect.stringContaining('fish') as never
    expect(() => expect(result).toHaveAnswered(fish)).toThrow(
      'to have answered StringContaining {"sample":"fish","inverse":false}; there was',
    )
    expect(result).toHaveAnswered(expect.stringContaining('bird') as never)
  })

  it('refuses what nothing can be compared with, instead of passing by not', () => {
    const nothing = undefined as never
    expect(() => expect(result).toHaveAnswered(nothing)).toThrow('takes a text or a regular expression, got undefined')
    expect(() => expect(result).not.toHaveAnswered({ text: 'a bird' } as never)).toThrow('takes a text or')
    expect(() => expect(result).not.toHaveCalled(nothing)).toThrow("takes a tool's name, got undefined")
    expect(() => expect(result).not.toHaveSession(nothing)).toThrow("fields of a session's record, got undefined")
    const misspelt = { categry: 'scout' } as never
    expect(() => expect(result).not.toHaveSession(misspelt)).toThrow('no session has a field "categry"; it has')
    expect(() => expect(result.world).not.toHaveKeptLaws()).toThrow('expected what simulate() or sweep() gives')
  })

  it('refuses what holds no worlds', () => {
    expect(() => expect({}).toHaveAnswered('anything')).toThrow('expected a World or what simulate() gives, got {}')
  })
})
