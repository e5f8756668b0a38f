import { describe, expect, it } from 'vitest'
import { namedPaths } from '../../../src/rules/policy/named-paths.ts'

const base = { home: '/home/ada', cwd: '/home/ada/app' }
const named = (program: string) => namedPaths(program, base)

describe('a program', () => {
  it.for([
    [`readFileSync('secret/plan.txt')`, '/home/ada/app/secret/plan.txt'],
    ['readFileSync(`secret/${name}`)', '/home/ada/app/secret/'],
    [`readdirSync("secret")`, '/home/ada/app/secret'],
    [`open("../other/x")`, '/home/ada/app/../other/x'],
    [`join(homedir(), 'Documents')`, '/home/ada/Documents'],
    [`homedir() + '/Documents/a'`, '/home/ada//Documents/a'],
    ['`${process.env.HOME}/Documents/a`', '/home/ada//Documents/a'],
    [`'~/Documents/a'`, '/home/ada/Documents/a'],
    [`process.cwd() + '/secret/plan.txt'`, '/home/ada/app/secret/plan.txt'],
    [`/'/; readFileSync('secret/plan.txt')`, '/home/ada/app/secret/plan.txt'],
    [`// don't\nreadFileSync('/home/ada/x/y')`, '/home/ada/x/y'],
  ])('can name what its strings say: %s', ([program, path]) => {
    expect(named(program as string)).toContain(path)
  })

  it('names nothing by strings that are no arguments and have no slash, and the home folder only if it asks for it', () => {
    expect(named(`const label = 'secret'; if (x === 'Documents') y()`)).toEqual([])
    expect(named(`f('Documents')`)).toEqual(['/home/ada/app/Documents'])
  })

  it('is read in bounded time and to a bounded end', () => {
    for (const part of ['"', `"\\"`, `'a/b"`, '${', "f('a/', "])
      expect(named(part.repeat(30_000)).length).toBeLessThan(1_503)
    expect(named(Array.from({ length: 2_000 }, (_, at) => `'a/${at}'`).join())).toHaveLength(500)
  })
})
