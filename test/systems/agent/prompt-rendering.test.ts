import { Conversation, Paused, SystemPrompt } from 'entia'
import { Busy, RenderedPrompt, Skills, SubagentRegistry, Terminal, ToolRegistry } from 'entia/components'
import { project } from 'entia/models'
import { promptRendering } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { declaration, listener, type Part, saying, tickAt, told, worldOf } from '../one-tick.ts'

function prompted(template: string, ...parts: readonly Part[]) {
  const world = worldOf(promptRendering(256))
  const agent = listener(world, SystemPrompt({ template }), ...parts)
  return { world, agent, seen: () => project(world, agent).system }
}

const tools = (...names: string[]) => ToolRegistry({ tools: names.map((name) => declaration(name)) })

describe('a system prompt', () => {
  it('lists the tools of its agent where it asks for them, by name', () => {
    const { world, seen } = prompted('You have\n${_installed_tools}\nUse them.', tools('zoom', 'Add', 'add'))
    tickAt(world, 0)
    expect(seen()).toBe('You have\n- Add\n- add\n- zoom\nUse them.')
  })

  it('says so where there are none', () => {
    const { world, seen } = prompted('Tools: ${_installed_tools}')
    tickAt(world, 0)
    expect(seen()).toBe('Tools: - none')
  })

  it.each([['It costs $5, or $& or $1 or $$.'], ['Home is ${HOME}, and $HOME.'], ['`${a}` ${} ${_installed'], ['']])(
    'without a placeholder stays as it is: %s',
    (template) => {
      const { world, agent, seen } = prompted(template)
      expect(told(tickAt(world, 0))).toEqual([])
      expect(seen()).toBe(template)
      expect(world.has(agent, RenderedPrompt)).toBe(false)
    },
  )

  it('lists skills, subagents and MCP servers likewise, by code point', () => {
    const template = '${_installed_skills}\n\n${_installed_subagents}\n\n${_installed_mcps}'
    const subagents = {
      '\u{1F600}': { name: '\u{1F600}' },
      '\uFF5E': { name: '\uFF5E', description: '' },
      poet: { name: 'poet', description: 'Writes $& verses' },
      Zoologist: { name: 'Zoologist' },
    }
    const skills = Skills({ installed: [{ name: 'sql' }, { name: 'git' }] })
    const { world, seen } = prompted(template, skills, SubagentRegistry({ subagents }))
    tickAt(world, 0)
    const listed = '- Zoologist\n- poet: Writes $& verses\n- \uFF5E\n- \u{1F600}'
    expect(seen()).toBe(`- git\n- sql\n\n${listed}\n\n- none`)
  })

  it('says that any other name is allowed where free-form is on, and never that there are none', () => {
    const registry = (enabled: boolean, ...names: readonly string[]) =>
      SubagentRegistry({
        freeForm: { enabled },
        subagents: Object.fromEntries(names.map((name) => [name, { name }])),
      })
    const seenWith = (part: Part) => {
      const { world, seen } = prompted('${_installed_subagents}', part)
      tickAt(world, 0)
      return seen()
    }
    expect(seenWith(registry(true, 'poet'))).toBe('- poet\n- any other name (free-form)')
    expect(seenWith(registry(true))).toBe('- any other name (free-form)')
    expect(seenWith(registry(false))).toBe('- none')
  })

  it('has the texts of skills behind it, in the order in which they were installed, and then its ending', () => {
    const installed = [
      { name: 'sql', prompt: 'It costs $5: ${_installed_tools}' },
      { name: 'mute' },
      { name: 'empty', prompt: '' },
      { name: 'git', prompt: 'Commit.' },
    ]
    const { world, agent, seen } = prompted('Tools: ${_installed_tools}', tools('a'), Skills({ installed }))
    world.patch(agent, SystemPrompt, { ending: 'Answer ${_installed_mcps} in $& time.' })
    const text =
      'Tools: - a\n\n## Skill: sql\nIt costs $5: ${_installed_tools}\n\n## Skill: git\nCommit.\n\nAnswer ${_installed_mcps} in $& time.'
    expect(seen()).toBe(text)
    expect(told(tickAt(world, 0))).toEqual([])
    expect(world.get(agent, RenderedPrompt)?.text).toBe(text)
    expect(seen()).toBe(text)
  })

  it('has its ending behind it, though there is nothing to fill in', () => {
    const { world, agent, seen } = prompted('Plain.')
    world.patch(agent, SystemPrompt, { ending: 'Bye.' })
    expect(seen()).toBe('Plain.\n\nBye.')
    tickAt(world, 0)
    expect(world.get(agent, RenderedPrompt)?.text).toBe('Plain.\n\nBye.')
  })

  it('that has nothing before the texts of skills and the ending begins with them', () => {
    const { world, agent, seen } = prompted('', Skills({ installed: [{ name: 'git', prompt: 'Commit.' }] }))
    expect(seen()).toBe('## Skill: git\nCommit.')
    world.patch(agent, SystemPrompt, { ending: 'Bye.' })
    tickAt(world, 0)
    expect(seen()).toBe('## Skill: git\nCommit.\n\nBye.')
    world.remove(agent, SystemPrompt)
    tickAt(world, 0)
    expect(seen()).toBe('## Skill: git\nCommit.')
    world.remove(agent, Skills)
    tickAt(world, 0)
    expect(seen()).toBe('')
    expect(world.has(agent, RenderedPrompt)).toBe(false)
  })

  it('is what its model sees before it was ever rendered', () => {
    expect(prompted('${_installed_tools}, ${_installed_skills}').seen()).toBe('- none, - none')
    expect(prompted('Plain.', Skills({ installed: [{ name: 'mute' }] })).seen()).toBe('Plain.')
  })

  it('is filled in once: what a tool is called is not read again', () => {
    const { world, seen } = prompted('${_installed_tools} $5 ${_installed_tools}', tools('a'))
    tickAt(world, 0)
    expect(seen()).toBe('- a $5 - a')
  })

  it('warns of a placeholder that stands for nothing, once, and leaves it there', () => {
    const { world, agent, seen } = prompted('${_installed_tools} and ${_installed_skils}')
    const message = 'The system prompt has an unknown placeholder: ${_installed_skils}'
    expect(tickAt(world, 0).events).toEqual([{ type: 'warning', agent, message }])
    expect(seen()).toBe('- none and ${_installed_skils}')
    expect(told(tickAt(world, 0))).toEqual([])
    world.add(agent, tools('a'))
    expect(told(tickAt(world, 0))).toEqual([])
    expect(seen()).toBe('- a and ${_installed_skils}')
    world.set(agent, SystemPrompt, { template: '${_installed_skils} ${_installed_MCP-2}' })
    expect(tickAt(world, 0).events).toMatchObject([{ message: expect.stringContaining('${_installed_MCP-2}') }])
  })

  it('is filled in anew when the tools or the text have changed, and is written only then', () => {
    const { world, agent, seen } = prompted('Tools: ${_installed_tools}', tools('a'))
    tickAt(world, 0)
    expect(tickAt(world, 0).delta.set).toBeUndefined()
    world.add(agent, tools('a', 'b'))
    tickAt(world, 0)
    expect(seen()).toBe('Tools: - a\n- b')
    world.add(agent, Skills({ installed: [{ name: 'git', prompt: 'Commit.' }] }))
    tickAt(world, 0)
    expect(seen()).toBe('Tools: - a\n- b\n\n## Skill: git\nCommit.')
    world.remove(agent, Skills)
    world.set(agent, SystemPrompt, { template: '${_installed_subagents}' })
    world.add(agent, SubagentRegistry({ subagents: {} }))
    tickAt(world, 0)
    expect(seen()).toBe('- none')
    world.patch(agent, SubagentRegistry, { freeForm: { enabled: true } })
    tickAt(world, 0)
    expect(seen()).toBe('- any other name (free-form)')
    world.set(agent, SystemPrompt, { template: 'None.' })
    tickAt(world, 0)
    expect(seen()).toBe('None.')
    expect(world.has(agent, RenderedPrompt)).toBe(false)
  })

  it('that is taken away is sent no more', () => {
    const { world, agent, seen } = prompted('${_installed_tools}', tools('a'))
    tickAt(world, 0)
    world.remove(agent, SystemPrompt)
    expect(seen()).toBe('')
    tickAt(world, 0)
    expect(seen()).toBe('')
    expect(world.has(agent, RenderedPrompt)).toBe(false)
  })

  it.each([
    ['works', Busy],
    ['is paused', Paused],
    ['has ended', Terminal],
  ])('of an agent that %s is left alone', (_, tag) => {
    const { world, agent } = prompted('${_installed_tools}', tag)
    tickAt(world, 0)
    expect(world.has(agent, RenderedPrompt)).toBe(false)
  })

  it('of an agent that has nothing to answer is left alone', () => {
    const world = worldOf(promptRendering(256))
    world.spawn(SystemPrompt({ template: '${_installed_tools}' }), Conversation([saying('Bye')]))
    expect(tickAt(world, 0).delta.set).toBeUndefined()
  })
})
