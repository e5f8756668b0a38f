import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { processesWith } from '../../tools/running-processes.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { confined, hasSandbox } from './confined.ts'

/** A number of seconds that no other test sleeps. */
let seconds = 200_000 + (process.pid % 10_000) * 10
const uniqueSleep = (): string => `sleep ${++seconds}`

describe.runIf(hasSandbox)('bash in the sandbox', () => {
  it('gets its command as it was written, and gives output and exit code as without', async () => {
    const { bash, cwd } = await confined({ files: { 'app/a.txt': '' } })
    expect(await bash('ls; echo 1; echo 2 >&2; echo 3; cat; echo "$0 $#"; pwd')).toBe(`a.txt\n1\n2\n3\nbash 0\n${cwd}`)
    expect(
      await bash(String.raw`printf '%s\n' "it's \"q\" \\ \$x" 'a
b' ä€🐝`),
    ).toBe('it\'s "q" \\ $x\na\nb\nä€🐝')
    expect(await bash(`: ${"'".repeat(20_000)} && echo ok`)).toBe('ok')
    expect(await bash('echo x; exit 3')).toBe('x\n[exit 3]')
    expect(await bash('true')).toBe('[no output]')
    expect(await bash('env | grep -c ENTIA_')).toBe('1')
    expect(await bash('head -c 300000 /dev/zero | tr "\\0" a | wc -c')).toBe('300000')
  })

  it('is asked to end at its timeout, has a second for it, and leaves nothing', async () => {
    const { call, cwd } = await confined()
    const sleep = uniqueSleep()
    const command = `trap 'echo bye > bye; exit 0' TERM; ${sleep} & wait`
    expect(await call('bash', { command, timeoutMs: 1_500 })).toBe('[timed out after 1500 ms]')
    expect(await readFile(join(cwd, 'bye'), 'utf8')).toBe('bye\n')
    const deaf = `trap '' TERM; ${sleep} & ${sleep}; ${sleep}`
    expect(await call('bash', { command: deaf, timeoutMs: 1_500 })).toBe('[timed out after 1500 ms]')
    expect(processesWith(sleep)).toEqual([])
  })

  it('ends with all that it has started, in a session and with an environment of its own too', async () => {
    const { bash } = await confined()
    const sleep = uniqueSleep()
    for (const start of [sleep, `setsid ${sleep}`, `env -i setsid ${sleep}`]) {
      expect(await bash(`${start} >/dev/null 2>&1 & sleep 0.2; echo done`)).toBe('done')
      await expect.poll(() => processesWith(sleep), { message: start }).toEqual([])
    }
  })

  it('that is cancelled rejects with the reason once nothing of it runs', async () => {
    const { call, cwd } = await confined()
    const stop = new AbortController()
    const sleep = uniqueSleep()
    const called = call('bash', { command: `touch begun; setsid ${sleep} & ${sleep}` }, { signal: stop.signal })
    await expect.poll(() => existsSync(join(cwd, 'begun'))).toBe(true)
    stop.abort(new Error('enough'))
    await expect(called).rejects.toThrow('enough')
    expect(processesWith(sleep)).toEqual([])
  })

  it('runs on in the background, is read, and ends at its stop', async () => {
    const { call } = await confined()
    const sleep = uniqueSleep()
    const started = await call('bash', { command: `echo begun; echo x > /etc/x; setsid ${sleep}`, background: true })
    expect(started).toMatch(/^begun\n[^]*Read-only file system\n\[sandbox: it stopped a write/)
    const id = /sh_\w+/.exec(started)?.[0] ?? ''
    expect(await call('shell_output', { id })).toBe(`[running in the background as ${id}]`)
    expect(await call('shell_stop', { id })).toContain(`${id}: `)
    expect(processesWith(sleep)).toEqual([])
  })
})

describe.runIf(hasSandbox)('run_js in the sandbox', () => {
  it('keeps its variables, starts programs, and is held in', async () => {
    const { call, home } = await confined({ files: { '.ssh/id_rsa': 'secret' } })
    expect(await call('run_js', { code: 'const fs = require("node:fs"); const a = 20; console.log("hi"); a' })).toBe(
      'hi\n20',
    )
    expect(await call('run_js', { code: 'fs.writeFileSync("a", String(a + 1)); fs.readFileSync("a", "utf8")' })).toBe(
      `'21'`,
    )
    const started = 'require("child_process").execFileSync("echo", ["started"]).toString().trim()'
    expect(await call('run_js', { code: started })).toBe(`'started'`)
    const written = await call('run_js', { code: `fs.writeFileSync(${JSON.stringify(join(home, 'out'))}, "x")` })
    expect(written).toMatch(/EROFS[^]*\n\[sandbox: it stopped a write/)
    expect(await call('run_js', { code: `fs.readFileSync(${JSON.stringify(join(home, '.ssh/id_rsa'))})` })).toMatch(
      /ENOENT[^]*\n\[sandbox: it stopped reading/,
    )
    expect(await call('run_js', { code: 'await fetch("https://example.com").catch((e) => String(e.cause))' })).toMatch(
      /EAI_AGAIN|ENOTFOUND/,
    )
    expect(await readdir(home)).not.toContain('out')
  })

  it('ends after a call that never ends, with what it has started, and begins anew', async () => {
    const { call } = await confined()
    const sleep = uniqueSleep()
    const code = `require('child_process').spawn('setsid', ${JSON.stringify(sleep.split(' '))}); for (;;);`
    expect(await call('run_js', { code, timeoutMs: 500 })).toContain('timed out after 500 ms')
    expect(processesWith(sleep)).toEqual([])
    expect(await call('run_js', { code: '1 + 1' })).toContain('2')
  })
})

describe.runIf(hasSandbox)('what makes sandboxes', () => {
  it('is started again after it was ended from outside', async () => {
    const { bash } = await confined()
    expect(await bash('echo 1')).toBe('1')
    const makers = processesWith('host-program.ts').filter((pid) => isChildOf(pid, process.pid))
    for (const pid of makers) process.kill(Number(pid), 'SIGKILL')
    await expect.poll(() => makers.some((pid) => isRunning(Number(pid)))).toBe(false)
    expect(await bash('echo 2 > a; cat a; echo x > /etc/x')).toMatch(/^2\n[^]*Read-only file system/)
  })

  it.each(['closes its sandbox', 'ends without', 'is killed'])('is gone after a program that %s', async (how) => {
    const cwd = await tempFolder()
    const sleep = uniqueSleep()
    const program = join(import.meta.dirname, '../../programs/sandboxed-program.ts')
    const child = spawn(process.execPath, ['--conditions=entia-source', program, cwd, sleep, how], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [first] = (await once(child.stdout, 'data')) as [Buffer]
    const { folder, host } = JSON.parse(String(first)) as { readonly folder: string; readonly host: number }
    if (how === 'is killed') child.kill('SIGKILL')
    await once(child, 'exit')
    await expect.poll(() => processesWith(sleep)).toEqual([])
    await expect.poll(() => isRunning(host)).toBe(false)
    await expect.poll(() => existsSync(folder)).toBe(false)
    await expect.poll(() => readdirSync(cwd)).toEqual([])
    await expect.poll(() => processesWith('socat').filter((pid) => isChildOf(pid, host))).toEqual([])
  })
})

function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

/** A process that was started by that one and has not ended. */
function isChildOf(pid: string, parent: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, by] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state !== 'Z' && by === String(parent)
  } catch {
    return false
  }
}
