import { describe, expect, it } from 'vitest'
import { goesThroughFolder } from '../../../src/rules/policy/recursion.ts'

describe('a shell line', () => {
  it.for([
    ...[
      'rg needle',
      'cd x && rg needle',
      'find -name x',
      'tree',
      'ls -R',
      'ls -lR src',
      'grep -rn x',
      'grep x -R',
      'egrep -r x',
    ],
    ...[
      'git grep x',
      'git diff',
      'git -C x show HEAD',
      'git log -p',
      'git log --patch -1',
      'echo $(rg x)',
      'x | xargs ls -R',
    ],
    ...[
      'if rg x; then y; fi',
      '/usr/bin/find',
      'a; ag x',
      'sudo tree',
      'grep --recursive x',
      'for f in a; do find; done',
    ],
  ])('goes through its folder: %s', (body) => {
    expect(goesThroughFolder(body)).toBe(true)
  })

  it.for([
    ...[
      'ls',
      'ls -ltr',
      'grep x a.txt',
      'git log -3',
      'git status',
      'npm run find',
      'echo rg',
      'cat findings.txt',
      'treefmt',
    ],
    ...['git commit -m "rg is fast"', 'node find.js', 'grep -n r a', 'npm test', 'git push'],
  ])('names what it reads: %s', (body) => {
    expect(goesThroughFolder(body)).toBe(false)
  })

  it('is taken to, where it is long', () => {
    expect(goesThroughFolder('('.repeat(20_000))).toBe(true)
    expect(goesThroughFolder('(grep '.repeat(2_500))).toBe(false)
  })
})
