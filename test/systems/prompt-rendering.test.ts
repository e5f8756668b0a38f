import { Conversation, Paused, project, SystemPrompt, Terminal, ToolRegistry } from 'entia'
import { Busy, RenderedPrompt } from 'entia/components'
import { promptRendering } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { declaration, listener, type Part, saying, tickAt, told, worldOf } from './one-tick.ts'

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
  })

  it('is filled in anew when the tools or the text have changed, and is written only then', () => {
    const { world, agent, seen } = prompted('Tools: ${_installed_tools}', tools('a'))
    tickAt(world, 0)
    expect(tickAt(world, 0).delta.set).toBeUndefined()
    world.add(agent, tools('a', 'b'))
    tickAt(world, 0)
    expect(seen()).toBe('Tools: - a\n- b')
    world.set(agent, SystemPrompt, { template: 'None.' })
    tickAt(world, 0)
    expect(seen()).toBe('None.')
  })

  it('that is taken away is sent no more', () => {
    const { world, agent, seen } = prompted('${_installed_tools}', tools('a'))
    tickAt(world, 0)
    world.remove(agent, SystemPrompt)
    tickAt(world, 0)
    expect(seen()).toBe('')
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
