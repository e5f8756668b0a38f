import { describe, expect, it } from 'vitest'
import { commandStart, isContinued } from '../../../src/rules/policy/simple-command.ts'

const startOf = (command: string) => commandStart(command.split(' '))

describe('a command that may be allowed with what follows it', () => {
  it.for([
    'ls -la src',
    './scripts/check.sh --all',
    'git status -s',
    '/usr/bin/git log --oneline',
    'npm test -- --watch',
    'npm run lint -- --fix',
    'pnpm run build:all',
    'cargo build',
    'node scripts/build.js --fast',
    'npx tsc -p .',
    'python3 manage.py migrate',
  ])('is offered with all its words: %s', (command) => {
    expect(startOf(command)).toBe(command)
  })

  it.for([
    'sudo ls',
    'env ls',
    'bash x.sh',
    'xargs rm',
    'find . -delete',
    'crontab -l',
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

describe('a command that goes on from one that is allowed', () => {
  it.for([
    ['npm test', 'npm test'],
    ['npm test', 'npm test parser'],
    ['npm test', 'npm test -- parser lexer'],
    ['npm run lint', 'npm run lint src test'],
    ['npm run lint -- --fix', 'npm run lint -- --fix src/a.ts'],
    ['npx vitest run', 'npx vitest run test/a.test.ts'],
    ['git log -3', 'git log -3 README.md'],
    ['git diff', 'git diff HEAD~2 -- src/a.ts'],
    ['git show', 'git show main^'],
    ['git add', 'git add src/a.ts src/b.ts'],
    ['ls', 'ls src ~/projects'],
    ['cat README.md', 'cat README.md docs/a.md'],
    ['node build.js', 'node build.js docs'],
    ['python3 tools/gen.py', 'python3 tools/gen.py src'],
    ['./scripts/check.sh', './scripts/check.sh src'],
    ['cargo test', 'cargo test parser'],
    ['go test', 'go test ./...'],
    ['tsc -p .', 'tsc -p . src/a.ts'],
    ['mkdir -p', 'mkdir -p a/b'],
  ] as const)('is covered: behind %s, %s', ([start, command]) => {
    expect(isContinued(start, command)).toBe(true)
  })

  it.for([
    ['git log', 'git log --output=x'],
    ['git log -3', 'git log'],
    ['git log', 'git logs'],
    ['git diff', 'git diff --no-index a b'],
    ['git diff', 'git diff -- -x --output=y'],
    ['git diff', 'git diff --ext-diff'],
    ['git config user.name', 'git config user.name somebody'],
    ['git config', 'git config core.pager x'],
    ['git branch', 'git branch topic'],
    ['git stash', 'git stash drop'],
    ['git remote', 'git remote add x y'],
    ['git push', 'git push origin +main'],
    ['git checkout', 'git checkout .'],
    ['git submodule', 'git submodule foreach x'],
    ['npm install', 'npm install left-pad'],
    ['npm exec', 'npm exec x'],
    ['npm run', 'npm run deploy'],
    ['npm test', 'npm test --script-shell=./x'],
    ['npm test', 'npm test -- --globalSetup=x'],
    ['npm test', 'npm test +x'],
    ['npx', 'npx evil'],
    ['npx cowsay', 'npx cowsay x'],
    ['yarn', 'yarn deploy'],
    ['node', 'node other.js'],
    ['node build', 'node build x'],
    ['node build.js', 'node build.js --x'],
    ['python3 manage.py', 'python3 manage.py flush'],
    ['make', 'make deploy'],
    ['make build', 'make build SHELL=/bin/cat'],
    ['go run', 'go run ./cmd/x'],
    ['go test', 'go test -exec ./x ./...'],
    ['docker run ubuntu', 'docker run ubuntu sh'],
    ['docker exec box', 'docker exec box id'],
    ['kubectl get', 'kubectl get secrets'],
    ['gh pr', 'gh pr merge'],
    ['terraform state', 'terraform state rm'],
    ['cargo install', 'cargo install x'],
    ['curl -s http://a.example', 'curl -s http://a.example http://b.example'],
    ['cp a b', 'cp a b c'],
    ['mv a b', 'mv a b c'],
    ['ln -s a b', 'ln -s a b c'],
    ['tee a', 'tee a b'],
    ['rsync a b', 'rsync a b c'],
    ['tar tf a.tar', 'tar tf a.tar --to-command=x'],
    ['less README.md', 'less README.md +!id'],
    ['man ls', 'man ls -P id'],
    ['vim x', 'vim x y'],
    ['psql app', 'psql app other'],
    ['redis-cli', 'redis-cli flushall'],
    ['aws s3', 'aws s3 rm x'],
    ['ls', 'ls *'],
    ['ls', 'ls $X'],
    ['ls', "ls 'a b'"],
    ['ls', 'ls {a,b}'],
    ['ls', 'ls ~root'],
    ['ls', 'ls a; id'],
    ['ls', 'ls a|id'],
    ['ls', 'ls a&id'],
    ['ls', 'ls <(id)'],
    ['ls', 'ls\tx'],
    ['ls', 'ls a\nid'],
  ] as const)('is not covered: behind %s, %s', ([start, command]) => {
    expect(isContinued(start, command)).toBe(false)
  })
})
