import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Json } from 'entia'
import { processesWith } from '../../tools/running-processes.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { handlesIn } from '../../tools/calling.ts'
import { toolsIn } from '../../runtime/tools/tools-in.ts'

/** A number of seconds that no other test sleeps. */
let seconds = 100_000 + (process.pid % 10_000) * 10
const uniqueSleep = (): string => `sleep ${++seconds}`

describe('bash', () => {
  it('gives both outputs in the order in which they come, in the working folder, without input', async () => {
    const folder = await tempFolder({ 'a.txt': '' })
    const command = 'ls; echo 1; echo 2 >&2; echo 3; cat; echo "$0 $#"'
    expect(await toolsIn(folder)('bash', { command })).toBe('a.txt\n1\n2\n3\nbash 0')
  })

  it('says which exit code it had, and what ended it', async () => {
    const call = toolsIn(await tempFolder())
    expect(await call('bash', { command: 'echo x; exit 1' })).toBe('x\n[exit 1]')
    expect(await call('bash', { command: 'exit 3' })).toBe('[exit 3]')
    expect(await call('bash', { command: 'kill -9 $$' })).toBe('[ended by SIGKILL]')
    expect(await call('bash', { command: 'if' })).toMatch(/syntax error[^]*\[exit 2\]$/)
    expect(await call('bash', { command: 'true' })).toBe('[no output]')
  })

  it('sleep 100 & sleep 100 with a timeout of 500 ms is back within 3 s, and no process of its group is left', async () => {
    const call = toolsIn(await tempFolder())
    const sleep = uniqueSleep()
    const begin = performance.now()
    const text = await call('bash', { command: `${sleep} & ${sleep}`, timeoutMs: 500 })
    expect(text).toBe('[timed out after 500 ms]')
    expect(performance.now() - begin).toBeLessThan(3_000)
    expect(processesWith(sleep)).toEqual([])
  })

  it('is stopped at its timeout when it ignores SIGTERM, has closed its output, or has left its group', async () => {
    const call = toolsIn(await tempFolder())
    const sleep = uniqueSleep()
    for (const command of [
      `trap '' TERM; ${sleep}; ${sleep}`,
      `exec >&- 2>&-; ${sleep}`,
      `setsid ${sleep} & wait`,
      `for i in 1 2 3 4 5 6 7 8 9; do (${sleep} & ${sleep}) & done; wait`,
    ]) {
      const begin = performance.now()
      expect(await call('bash', { command, timeoutMs: 400 })).toBe('[timed out after 400 ms]')
      expect(performance.now() - begin).toBeLessThan(3_000)
      expect(processesWith(sleep), command).toEqual([])
    }
  })

  it('ends with its shell: what still runs in the background is stopped', async () => {
    const call = toolsIn(await tempFolder())
    const sleep = uniqueSleep()
    expect(await call('bash', { command: `${sleep} & echo done` })).toBe('done')
    expect(processesWith(sleep)).toEqual([])
  })

  it.runIf(process.platform === 'linux')(
    'ends with its shell, also in a group and a session of its own whose parent has ended',
    async () => {
      const call = toolsIn(await tempFolder())
      const sleep = uniqueSleep()
      for (const command of [
        `setsid ${sleep} >/dev/null 2>&1 & sleep 0.2; echo done`,
        `(setsid bash -c "trap '' TERM HUP; ${sleep} & ${sleep}" >/dev/null 2>&1 &) ; sleep 0.2; echo done`,
        // A run within the run.
        `ENTIA_PROCESS="$ENTIA_PROCESS other" setsid ${sleep} >/dev/null 2>&1 & sleep 0.2; echo done`,
      ]) {
        expect(await call('bash', { command })).toBe('done')
        // What was killed is there for a moment longer.
        await expect.poll(() => processesWith(sleep), { message: command }).toEqual([])
      }
    },
  )

  it('is over with its shell though something elsewhere holds its output open', async () => {
    const call = toolsIn(await tempFolder())
    const begin = performance.now()
    expect(await call('bash', { command: `env -u ENTIA_PROCESS setsid sleep 4 & sleep 0.2; echo done` })).toBe('done')
    expect(performance.now() - begin).toBeLessThan(3_000)
  })

  it('that is cancelled rejects with the reason once nothing of it runs', async () => {
    const folder = await tempFolder()
    const stop = new AbortController()
    const sleep = uniqueSleep()
    const called = toolsIn(folder)('bash', { command: `touch begun; ${sleep}` }, { signal: stop.signal })
    await expect.poll(() => readFile(join(folder, 'begun'), 'utf8').catch(() => undefined)).toBe('')
    stop.abort(new Error('enough'))
    await expect(called).rejects.toThrow('enough')
    expect(processesWith(sleep)).toEqual([])
    await expect(toolsIn(folder)('bash', { command: 'true' }, { signal: stop.signal })).rejects.toThrow('enough')
  })

  it('of 1,000,000 characters shows 5,000 and 25,000 with the number left out, and a handle that has all', async () => {
    const kept: Json[] = []
    const command = String.raw`head -c 5000 /dev/zero | tr '\0' a; head -c 970000 /dev/zero | tr '\0' b; head -c 25000 /dev/zero | tr '\0' c`
    const shown = (note: string) => `${'a'.repeat(5_000)}\n[970000 characters left out${note}]\n${'c'.repeat(25_000)}`
    const folder = await tempFolder()
    expect(await toolsIn(folder)('bash', { command }, { handles: handlesIn(kept) })).toBe(shown('; all of it: .h_001'))
    expect(kept[0]).toBe(`${'a'.repeat(5_000)}${'b'.repeat(970_000)}${'c'.repeat(25_000)}`)
    expect(await toolsIn(folder)('bash', { command })).toBe(shown(''))
    const exact = String.raw`head -c 30000 /dev/zero | tr '\0' a`
    expect(await toolsIn(folder)('bash', { command: exact })).toBe('a'.repeat(30_000))
  })

  it(
    'that prints for ever is stopped at its timeout, and no more than 10 MB of it is kept',
    { timeout: 30_000 },
    async () => {
      const kept: Json[] = []
      const command = { command: 'yes 0123456789', timeoutMs: 1_000 }
      const text = await toolsIn(await tempFolder())('bash', command, { handles: handlesIn(kept) })
      expect(text).toMatch(/\n\[(timed out after 1000 ms|stopped: it printed more than 200000000 characters)\]$/)
      expect(text).toMatch(/\[\d+ characters left out; (all of it|the first 10000000 characters): \.h_001\]/)
      expect((kept[0] as string).length).toBeLessThanOrEqual(10_000_000)
    },
  )

  it('has no NUL and no terminal codes in its result, those that come in two pieces neither', async () => {
    const command = String.raw`printf 'a\0\033[31mred\033[0m\033'; sleep 0.1; printf '[1mbold\r\n\303'; sleep 0.1; printf '\244'`
    expect(await toolsIn(await tempFolder())('bash', { command })).toBe('aredbold\nä')
  })

  it('sees no secret in its environment, unless it is passed on by name', async () => {
    const env = {
      ...process.env,
      TAVILY_API_KEY: 's1',
      ANTHROPIC_API_KEY: 's2',
      my_token: 's3',
      DB_PASSWORD: 's4',
      CLIENT_SECRET: 's5',
      PLAIN: 'seen',
    }
    const folder = await tempFolder()
    const text = await toolsIn(folder, { env })('bash', { command: 'env' })
    expect(text).toContain('PLAIN=seen')
    expect(text).not.toMatch(/=s\d$/m)
    expect(await toolsIn(folder, { env, passEnv: ['my_token'] })('bash', { command: 'echo $my_token' })).toBe('s3')
  })

  it('refuses what no shell can run', async () => {
    expect(await toolsIn(await tempFolder())('bash', { command: 'a\0b' })).toBe(
      'Error: The command holds a NUL character.',
    )
    expect(await toolsIn('/nothing/there')('bash', { command: 'ls' })).toBe(
      'Error: The working folder /nothing/there does not exist.',
    )
  })
})
