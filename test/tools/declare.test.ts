import { declare, defineTool, type Tool } from 'entia'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

function named(name: string): Tool {
  return defineTool({ name, description: name, input: z.object({}), restart: 'pure', run: () => name })
}

describe('declarations', () => {
  it('are those of the tools, in order, and the same frozen objects each time', () => {
    const [one, two] = [named('one'), named('two')]
    const declared = declare(two, one)
    expect(declared.map(({ name }) => name)).toEqual(['two', 'one'])
    expect(declared[0]).toBe(declare(two)[0])
    expect(Object.isFrozen(declared[0])).toBe(true)
  })

  it('of two tools with one name are refused', () => {
    expect(() => declare(named('one'), named('one'))).toThrow(
      expect.objectContaining({ code: 'invalid-argument', message: expect.stringContaining("'one'") }),
    )
  })

  it('of what is no tool are refused, with the way to write it for a list', () => {
    const notTools = [[named('one')], undefined, {}] as unknown as Tool[]
    expect(() => declare(notTools[0] as Tool)).toThrow('argument 1 is a list; write declare(...tools)')
    expect(() => declare(named('one'), notTools[1] as Tool)).toThrow('argument 2 is no tool')
    expect(() => declare(notTools[2] as Tool)).toThrow('argument 1 is no tool')
  })
})
