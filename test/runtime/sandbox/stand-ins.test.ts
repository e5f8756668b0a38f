import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { StandIns } from '../../../src/runtime/sandbox/stand-ins.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

async function places() {
  const [folder, notes] = await Promise.all([tempFolder(), tempFolder()])
  return { folder, notes, at: (name: string) => ({ path: join(folder, name) }) }
}

/** Another process with stand-ins. It ends with its input. */
async function other(notes: string, path: string) {
  const source = `
    const { StandIns } = await import(${JSON.stringify(new URL('../../../src/runtime/sandbox/stand-ins.ts', import.meta.url).href)})
    const standIns = new StandIns(${JSON.stringify(notes)})
    standIns.guard([{ path: ${JSON.stringify(path)} }])
    process.stdout.write('made')
    process.stdin.on('end', () => standIns.remove()).resume()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return { child, ended: once(child, 'exit') }
}

describe.runIf(process.platform === 'linux')('stand-ins', () => {
  it('are where a guarded path is not there, until they are removed', async () => {
    const { at, folder, notes } = await places()
    mkdirSync(join(folder, 'real'))
    const standIns = new StandIns(notes)
    const guarded = [at('real'), at('a'), at('b/c/d'), { ...at('real/note'), standIn: '.\n' }]
    const mounted = [at('real'), at('a'), at('b'), at('real/note')].map(({ path }) => path)
    expect(standIns.guard(guarded)).toEqual(mounted)
    expect(readFileSync(join(folder, 'real/note'), 'utf8')).toBe('.\n')
    expect(mounted.map((path) => standIns.isThere(path))).toEqual([true, false, false, false])
    // For the next program they are the same.
    expect(standIns.guard(guarded)).toEqual(mounted)
    standIns.remove()
    expect([readdirSync(folder), readdirSync(join(folder, 'real')), readdirSync(notes)]).toEqual([['real'], [], []])
  })

  it('are made again where they were removed, and stay where something was put into them', async () => {
    const { at, folder, notes } = await places()
    const standIns = new StandIns(notes)
    standIns.guard([at('a'), at('b')])
    rmdirSync(join(folder, 'a'))
    writeFileSync(join(folder, 'b/mine'), '')
    expect(standIns.guard([at('a'), at('b')])).toEqual([join(folder, 'a'), join(folder, 'b')])
    expect(existsSync(join(folder, 'a'))).toBe(true)
    standIns.remove()
    expect(readdirSync(folder)).toEqual(['b'])
  })

  it('give way to the folder above where the user cannot make them', async () => {
    const { notes } = await places()
    expect(new StandIns(notes).guard([{ path: '/proc/entia/hooks' }])).toEqual(['/proc'])
    const { folder } = await places()
    writeFileSync(join(folder, 'file'), '')
    expect(new StandIns(notes).guard([{ path: join(folder, 'file/hooks') }])).toEqual([join(folder, 'file')])
  })

  it('that another process needs are kept, whichever made them', async () => {
    const { at, folder, notes } = await places()
    const path = join(folder, 'a')
    for (const isFirst of [true, false]) {
      const standIns = new StandIns(notes)
      if (isFirst) standIns.guard([at('a')])
      const { child, ended } = await other(notes, path)
      if (!isFirst) standIns.guard([at('a')])
      expect(standIns.isThere(path)).toBe(false)
      standIns.remove()
      expect(existsSync(path)).toBe(true)
      child.stdin.end()
      await ended
      expect([existsSync(path), readdirSync(notes)]).toEqual([false, []])
    }
  })

  it('of a process that was killed are removed with the next ones', async () => {
    const { at, folder, notes } = await places()
    const { child, ended } = await other(notes, join(folder, 'a'))
    child.kill('SIGKILL')
    await ended
    // It may be killed while it holds the lock.
    writeFileSync(join(notes, 'lock'), `${child.pid}-1.json`)
    expect(existsSync(join(folder, 'a'))).toBe(true)
    const standIns = new StandIns(notes)
    standIns.guard([at('b')])
    expect(readdirSync(folder)).toEqual(['b'])
    standIns.remove()
    expect([readdirSync(folder), readdirSync(notes)]).toEqual([[], []])
  })
})
