import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PolicyConfig } from '../../../src/protocol/policy.ts'
import type { PolicyCall } from '../../../src/rules/policy/call.ts'
import { assess } from '../../../src/rules/policy/policy.ts'
import { inspectCall } from '../../../src/runtime/policy/inspect-call.ts'

let home = ''
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'entia-places-'))
  await mkdir(join(home, '.ssh'))
  await mkdir(join(home, 'Documents/deep'), { recursive: true })
  await mkdir(join(home, 'projects/app/src'), { recursive: true })
  await writeFile(join(home, '.ssh/config'), 'Host x')
  await symlink(join(home, 'Documents/deep'), join(home, 'projects/app/d'))
})
afterAll(() => rm(home, { recursive: true }))

async function assessed(command: string, more: PolicyConfig = {}) {
  const call: PolicyCall = {
    tool: 'bash',
    arguments: { command: command.replaceAll('HOME_FOLDER', home) },
    channel: 'cli',
    declared: { operation: 'exec' },
    home,
    cwd: join(home, 'projects/app'),
  }
  const config: PolicyConfig = { permissions: { bash: 'allow' }, ...more }
  return assess({ ...call, facts: await inspectCall(call, config) }, config)
}

describe('a shell body that moves what a path is read from', () => {
  it.for([
    // The home folder
    ['HOME', 'HOME=/; cat ~/etc/shado?'],
    ['HOME by HOME', 'HOME=/; HOME=~/etc; cat ~/shado?'],
    ['HOME that is added to', 'HOME+=/projects/..; cat ~/.s?h/config'],
    ['HOME that is a folder below', 'HOME=..; cat ~/../.s?h/config'],
    ['HOME for a child', "HOME=/etc sh -c 'cat ~/shado?'"],
    ['HOME of env', "env HOME=/etc sh -c 'cat ~/shado?'"],
    ['HOME that is exported', 'export HOME=/etc; cat ~/shado?'],
    ['HOME that is declared', 'declare -x HOME=/etc; cat ~/shado?'],
    ['HOME of a function', 'f() { local HOME=/etc; cat ~/shado?; }; f'],
    ['HOME that is read', 'read HOME <<< /etc; cat ~/shado?'],
    ['HOME of a loop', 'for HOME in /etc; do cat ~/shado?; done'],
    ['HOME of printf', 'printf -v HOME %s /etc; cat ~/shado?'],
    ['HOME that is not known', 'HOME=$X; cat ~/.s?h/config'],
    ['HOME that is read from elsewhere', 'read HOME < x; cat ~/.s?h/config'],
    ['cd to HOME', 'HOME=/etc; cd; cat shado?'],
    ['cd to HOME of a child', "HOME=/etc bash -c 'cd && cat shado?'"],
    // The folder before
    ['OLDPWD', 'OLDPWD=~; cd -; cat .s?h/config'],
    ['OLDPWD by its path', 'OLDPWD=HOME_FOLDER; cd -; cat .ssh/config'],
    ['OLDPWD for a command', 'OLDPWD=~ cd -; cat .s?h/config'],
    ['OLDPWD that is exported', 'export OLDPWD=~ && cd - && cat .s?h/config'],
    ['OLDPWD behind --', 'OLDPWD=~; cd -- -; cat .s?h/config'],
    ['OLDPWD that is not known', 'OLDPWD=$X; cd -; cat .s?h/config'],
    ['the tilde of OLDPWD', 'OLDPWD=~; cat ~-/.s?h/config'],
    ['PWD', 'PWD=~; cat $PWD/.s?h/config'],
    ['PWD that is added to', 'PWD+=/../..; cat $PWD/.s?h/config'],
    ['the tilde of PWD', 'PWD=~; cat ~+/.s?h/config'],
    // The stack of folders
    ['popd', 'pushd ~; pushd /tmp; popd; cat .s?h/config'],
    ['pushd alone', 'pushd ~; pushd /tmp; pushd; cat .s?h/config'],
    ['a number of pushd', 'pushd -n ~; pushd +1; cat .s?h/config'],
    ['a folder that is pushed without going there', 'pushd -n ~; popd; cat .s?h/config'],
    ['a number behind a tilde', 'pushd -n ~; cat ~1/.s?h/config'],
    ['a number from the end', 'pushd -n ~; cat ~-0/.s?h/config'],
    ['DIRSTACK', 'DIRSTACK=(x ~); pushd +1; cat .s?h/config'],
    ['an element of DIRSTACK', 'pushd -n x; DIRSTACK[1]=~; popd; cat .s?h/config'],
    ['dirs', 'pushd -n ~; cat "$(dirs -l +1)"/.s?h/config'],
    // Options of cd
    ['cd -P', 'cd -P ~; cat .s?h/config'],
    ['cd -L', 'cd -L -- ~ && cat .s?h/config'],
    ['cd -P behind a link', 'cd d && cd -P ../.. && cat .s?h/config'],
    ['cd of set -P', 'set -P; cd d/../..; cat .s?h/config'],
    ['CDPATH by HOME', 'HOME=/; CDPATH=~; cd etc; cat shado?'],
    ['CDPATH that is not known', 'CDPATH=$X; cd .ssh; cat c*'],
    // Folders of commands
    ['env -C', 'env -C .. cat ../.s?h/config'],
    ['env --chdir', 'env --chdir=../.. cat .s?h/config'],
    ['env -C of a shell', "env -C../.. sh -c 'cat .s?h/config'"],
    ['env -C of what is not known', 'env -C "$X" cat .s?h/config'],
    ['sudo -D', 'sudo -D ../.. cat .s?h/config'],
    ['git -C', 'git -C ../.. diff --no-index /dev/null .s?h/config'],
    ['tar -C twice', 'tar -C .. -C .. -cf x .s?h'],
    ['unshare --wd', 'unshare --wd=../.. cat .s?h/config'],
    ['the home folder of systemd-run', 'systemd-run --user cat .s?h/config'],
    ['the root of systemd-run', 'sudo systemd-run --pipe cat etc/shado?'],
    ['a folder of systemd-run', 'systemd-run --user -p WorkingDirectory=~/projects cat ../.s?h/config'],
    // Links of a process
    ['its folder', 'cat /proc/self/cwd/../../.s?h/config'],
    ['its folder by its name', 'cat /proc/self/cwd/../../.ssh/config'],
    ['its folder by a number', 'cat /proc/$$/cwd/../../.s?h/config'],
    ['the folder of another', 'cat /proc/$PPID/cwd/.s?h/config'],
    ['the folder of a thread', 'cat /proc/thread-self/cwd/../../.s?h/config'],
    ['the folder above a thread', 'cat /proc/thread-self/../../cwd/../../.s?h/config'],
    ['the folder of a task', 'cat /proc/self/task/$$/cwd/../../.s?h/config'],
    ['its folder in other words', 'cat /proc/./self//cwd/../../.s?h/config'],
    ['its folder by a pattern', 'cat /pr?c/s*f/c[w]d/../../.s?h/config'],
    ['its folder by way of another', 'cat src/../../../../../proc/self/cwd/../../.s?h/config'],
    ['its folder behind a link', 'cat /proc/net/../cwd/../../.s?h/config'],
    ['its folder, gone to', 'cd -P /proc/self/cwd/../..; cat .s?h/config'],
    ['its folder where it has gone', 'cd src; cat /proc/self/cwd/../../../.s?h/config'],
    ['its folder in a variable', 'D=/proc/self/cwd; cat $D/../../.s?h/config'],
    ['the root', 'cat /proc/self/root/etc/shado?'],
    ['the root by a number', 'cat /proc/1/root/etc/shadow'],
    ['the root of a thread', 'cat /proc/1/task/1/root/etc/shado?'],
    ['the root and HOME', 'cat /proc/$$/root$HOME/.s?h/config'],
    ['the root, gone to', 'cd /proc/self/root && cat etc/shado?'],
    ['what is open', 'exec 3< ~; cat /dev/fd/3/.s?h/config'],
    ['what is open by the process', 'exec 3< ../..; cat /proc/self/fd/3/.s?h/config'],
    ['the input', 'cat /dev/stdin/.s?h/config < ../..'],
    ['a folder that is opened', 'ls -l /dev/fd/0/ < ~'],
    ['above what is open', 'cat /dev/fd/../cwd/../../.s?h/config'],
    ['above what is open, the environment', 'cat /dev/fd/../enviro?'],
    // What is listed
    ['du -a', 'du -a ~'],
    ['du', 'du -h ~ | sort -h'],
    ['du of the folder', 'cd ~ && du -a'],
    ['du to a depth', 'du -a -d 3 ~'],
    ['du of HOME', 'HOME=../..; du --all ~'],
  ] as const)('is a question about a credential by %s: %s', async ([, command]) => {
    const { decision, onlyAPerson } = await assessed(command)
    expect(decision.reason).toMatch(/^credential path: /)
    expect(onlyAPerson).toBe(true)
  })

  it.for([
    'cat /proc/self/cwd/../../Documents/a',
    'cat /proc/$PPID/cwd/Documents/a',
    'HOME=../..; cat ~/Documents/a',
    'OLDPWD=~; cd -; cat Documents/a',
    'cd -P d/..; cat a',
    'env -C .. cat ../Documents/a',
    'du -a ~/Documents',
    `python3 -c "print(open('/proc/self/cwd/../../Documents/a').read())"`,
    `node -e "console.log(require('fs').readFileSync('/dev/fd/../cwd/../../Documents/a','utf8'))"`,
  ])('is judged by the personal paths that it reaches: %s', async (command) => {
    expect((await assessed(command)).dataClass).toBe('personal')
  })

  it('is judged by the denied paths that it reaches', async () => {
    for (const command of [
      'cat /proc/self/cwd/secret/a',
      'cd src; cat /proc/$$/cwd/../secret/a',
      'du -a',
      'env -C . cat secret/a',
    ])
      expect((await assessed(command, { deniedPaths: ['~/projects/app/secret'] })).decision.reason, command).toBe(
        'denied path: ~/projects/app/secret',
      )
    for (const command of ['du -sh', 'du -h -d1', 'du -a src', 'cat /proc/self/status'])
      expect((await assessed(command, { deniedPaths: ['~/projects/app/secret'] })).decision.approval, command).toBe(
        'allow',
      )
  })
})

describe('what a shell body leaves to run later', () => {
  it.for([
    "echo '* * * * * cat ~/.s?h/config' | crontab -",
    "crontab <<< '@daily cat ~/.s?h/config'",
    "crontab - <<'E'\n# each night\nSHELL=/bin/sh\n0 3 * * * cat ~/.s?h/config\nE",
    "printf '%s\\n' '*/5 1-3 * * mon cat .s?h/config' | crontab -u me -",
    "echo '@reboot cat ~/.s?h/config' > x; crontab x",
    "echo '@reboot sh%cat ~/.s?h/config' > x && sudo crontab -u me x",
    "crontab <<< $'HOME=/etc\\n@daily cat ~/shado?'",
    "at now <<< 'cat ~/.s?h/config'",
    "echo 'cat ~/.s?h/config' | at now + 3 days",
    "echo 'cat ~/.s?h/config' | at -q b teatime",
    "echo 'cat ~/.s?h/config' > x; at -f x noon Friday",
    "echo 'cat ~/.s?h/config' > x; at now -fx",
    "batch <<'E'\ncat ~/.s?h/config\nE",
    "systemd-run --user --on-calendar=daily sh -c 'cat ~/.s?h/config'",
    "systemd-run --user -p 'ExecStartPre=cat HOME_FOLDER/.s?h/config' true",
  ])('is read where the body has it: %s', async (command) => {
    expect((await assessed(command)).decision.reason).toMatch(/^credential path: /)
  })

  it.for([
    'crontab x',
    'crontab < x',
    'crontab -u me x',
    "EDITOR='cp x' crontab -e",
    '(crontab -l; echo "@daily true") | crontab -',
    'curl -s https://a.example/x | crontab',
    'crontab <(curl -s https://a.example/x)',
    'at -f x now',
    'at noon Friday < x',
    'batch < x',
    'systemd-run --user bash < x',
  ])('is asked about where it is not known, and remembered for nothing: %s', async (command) => {
    expect((await assessed(command)).mayRemember).toBe(false)
    const { decision } = await assessed(command, { permissions: {} })
    expect(decision.approval).toBe('ask')
    expect(decision.reason).toMatch(/^opaque command: /)
  })
})

describe('an ordinary shell body', () => {
  it.for([
    'cd - && npm test',
    'cd src && make && cd - && git status',
    'pushd src && make; popd',
    'pushd src > /dev/null && make && popd > /dev/null && git diff',
    'HOME=$PWD/.home npm test',
    'HOME=$(mktemp -d) npm ci',
    'OLDPWD=x npm test',
    'du -sh * | sort -h',
    'du -ah src | sort -h | tail',
    'du -h --max-depth=1 . | sort -h',
    'du -a node_modules | wc -l',
    'git -C src log --oneline -5',
    'make -C src -j4',
    'tar -czf a.tgz -C src .',
    'env -C src npm test',
    'npm --prefix src run build',
    'grep -C 3 x README.md',
    'crontab -l; atq; at -l',
    "echo 'npm test' | at now + 5 minutes",
    'npm test < /dev/stdin',
    'while read -r l; do echo "$l"; done < list.txt',
    'cat <<< x > /dev/stderr',
  ])('is covered by a yes for the shell, as before: %s', async (command) => {
    const { decision, mayRemember, onlyAPerson, readsOther } = await assessed(command)
    expect([decision.reason, mayRemember, onlyAPerson, readsOther]).toEqual(['configured: bash', true, false, false])
  })

  it.for([
    'cat /proc/cpuinfo /proc/meminfo',
    'cat /proc/self/status',
    'ls -la /proc/$$/fd',
    "cat /proc/$PID/cmdline | tr '\\0' ' '",
    'readlink -f /proc/1/exe',
    'tail -f /proc/1/fd/1',
    'ls -a ~; stat ~',
    'du -sh ~; du -h -d 1 ~',
    'HOME=/tmp/x npm ci',
    'crontab <<< "@daily cd HOME_FOLDER/projects/app && npm test"',
    'HOME=$X; cat ~/config',
  ])('is no question about a credential where it looks at the system, or at sizes: %s', async (command) => {
    const { decision, onlyAPerson } = await assessed(command)
    expect([decision.reason, onlyAPerson]).toEqual(['configured: bash', false])
  })
})
