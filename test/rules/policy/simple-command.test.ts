import { describe, expect, it } from 'vitest'
import { commandStart } from '../../../src/rules/policy/simple-command.ts'

const startOf = (command: string) => commandStart(command.split(' '))

describe('the beginning of a command that is offered', () => {
  it.for([
    ['ls -la src', 'ls'],
    ['./scripts/check.sh --all', './scripts/check.sh'],
    ['git status -s', 'git status'],
    ['/usr/bin/git log --oneline', '/usr/bin/git log'],
    ['npm test -- --watch', 'npm test'],
    ['npm run lint -- --fix', 'npm run lint'],
    ['pnpm run build:all', 'pnpm run build:all'],
    ['cargo build', 'cargo build'],
    ['node scripts/build.js --fast', 'node scripts/build.js'],
    ['npx tsc -p .', 'npx tsc'],
    ['python3 manage.py migrate', 'python3 manage.py'],
  ] as const)('of %s is %s', ([command, start]) => {
    expect(startOf(command)).toBe(start)
  })

  it.for([
    'sudo ls',
    'env ls',
    'bash x.sh',
    'xargs rm',
    'find . -delete',
    'rm x',
    'git',
    'git -C . status',
    'npm run',
    'node -e 1',
    'node',
    'eval ls',
    '$X ls',
    'git $X',
    "git 'status'",
    '',
  ])('is none of: %s', (command) => {
    expect(startOf(command)).toBeUndefined()
  })
})
