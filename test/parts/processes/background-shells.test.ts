import { afterEach, describe, expect, it, vi } from 'vitest'
import { BackgroundShells } from 'entia/runtime'
import { processesWith } from '../../tools/running-processes.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { type Calls, toolsIn } from '../../runtime/tools/tools-in.ts'

/** A number of seconds that no other test sleeps. */
let seconds = 200_000 + (process.pid % 10_000) * 10
const uniqueSleep = (): string => `sleep ${++seconds}`

const opened: BackgroundShells[] = []
afterEach(() => Promise.all(opened.splice(0).map((shells) => shells.close())))

async function chat(): Promise<{ readonly call: Calls; readonly shells: BackgroundShells; readonly start: Start }> {
  const shells = new BackgroundShells()
  opened.push(shells)
  const call = toolsIn(await tempFolder(), { shells })
  let calls = 0
  const start: Start = async (command) => {
    const text = await call('bash', { command, background: true }, { key: `call ${++calls}` })
    return { text, id: /sh_[\da-f]{8}/.exec(text)?.[0] ?? '' }
  }
  return { call, shells, start }
}
type Start = (command: string) => Promise<{ readonly text: string; readonly id: string }>

describe('a shell in the background', () => {
  it('gives its id and first output at once, is read on, and is stopped with all that it has started', async () => {
    const { call, start } = await chat()
    const sleep = uniqueSleep()
    const { id, text } = await start(`echo ready; read -t 0.7 < <(sleep 9); echo later; (${sleep} & ${sleep})`)
    expect(text).toBe(`ready\n[running in the background as ${id}]`)
    expect(await call('shell_output', { id, waitMs: 10_000 })).toBe(`later\n[running in the background as ${id}]`)
    expect(await call('shell_output', { id })).toBe(`[running in the background as ${id}]`)
    await vi.waitUntil(() => processesWith(sleep).length === 2, { timeout: 20_000 })
    expect(await call('shell_stop', { id })).toBe(`[${id}: stopped]`)
    expect(processesWith(sleep)).toEqual([])
    expect(await call('shell_stop', { id })).toBe(`[${id}: stopped]`)
    expect(await call('shell_output', { id })).toBe(`[${id}: stopped]`)
  })

  it('that ends at once says so in its first result', async () => {
    const { start } = await chat()
    const { id, text } = await start('echo no; exit 3')
    expect(text).toBe(`no\n[${id}: exit 3]`)
    expect((await start('true')).text).toMatch(/^\[sh_[\da-f]{8}: ended\]$/)
    expect((await start('kill -9 $$')).text).toMatch(/: ended by SIGKILL\]$/)
  })

  it('ends at its stop though it ignores SIGTERM, or has closed its output', async () => {
    const { call, start } = await chat()
    const sleep = uniqueSleep()
    const ids = [
      (await start(`trap '' TERM; ${sleep}; ${sleep}`)).id,
      (await start(`exec >&- 2>&-; trap '' TERM; ${sleep}`)).id,
    ]
    await Promise.all(ids.map((id) => call('shell_stop', { id })))
    expect(processesWith(sleep)).toEqual([])
  })

  it('that prints much keeps the beginning and the end of what was not read, with the number between', async () => {
    const { start } = await chat()
    const { id, text } = await start('seq -f %09g 1 20000')
    expect(text).toMatch(/^000000001\n/)
    expect(text).toMatch(
      new RegExp(`\\n\\[170000 characters left out\\]\\n[\\d\\n]+\\n000020000\\n\\[${id}: ended\\]$`),
    )
  })

  it('is listed without an id, for its own agent alone', async () => {
    const { call, shells, start } = await chat()
    expect(await call('shell_output', {})).toBe('[no background shells]')
    const { id } = await start('sleep 50')
    const { id: ended } = await start('exit 2')
    expect(await call('shell_output', {})).toBe(`${id} [running] sleep 50\n${ended} [exit 2] exit 2`)
    expect(await call('shell_output', {}, { world: 'another' })).toBe('[no background shells]')
    expect(await call('shell_stop', { id }, { agent: 99 })).toBe(
      `Error: There is no background shell '${id}'. There is none. A shell ends with the program that has started it.`,
    )
    expect(shells.list()).toMatchObject([
      { id, command: 'sleep 50', isRunning: true, state: 'running' },
      { id: ended, isRunning: false, state: 'exit 2' },
    ])
  })

  it('is refused as the eleventh, with the ids of the ten', async () => {
    const { call, start } = await chat()
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await start('sleep 50')).id))
    const refused = await call('bash', { command: 'sleep 50', background: true }, { key: 'one more' })
    expect(refused).toMatch(/^Error: 10 shells run in the background already: (sh_\w+, ){9}sh_\w+\. Stop one/)
    expect(ids.every((id) => refused.includes(id))).toBe(true)
    await call('shell_stop', { id: ids[0] ?? '' })
    expect((await start('echo there')).text).toMatch(/^there/)
  })

  it('is stopped when its call is cancelled while it is watched', async () => {
    const { shells } = await chat()
    const call = toolsIn(await tempFolder(), { shells })
    const sleep = uniqueSleep()
    const cancel = new AbortController()
    const started = call('bash', { command: sleep, background: true }, { signal: cancel.signal })
    cancel.abort(new Error('cancelled'))
    await expect(started).rejects.toThrow('cancelled')
    expect(processesWith(sleep)).toEqual([])
  })

  it('ends with its chat session, and a later one says that it is not known', async () => {
    const { call, shells, start } = await chat()
    const sleep = uniqueSleep()
    const ids = await Promise.all(
      Array.from({ length: 3 }, async () => (await start(`trap '' TERM; ${sleep}; ${sleep}`)).id),
    )
    await shells.close()
    expect(processesWith(sleep)).toEqual([])
    expect(await call('bash', { command: 'true', background: true })).toBe('Error: The chat session is closed.')
    const later = await chat()
    expect(await later.call('shell_output', { id: ids[0] ?? '' })).toMatch(/^Error: There is no background shell 'sh_/)
  })
})
