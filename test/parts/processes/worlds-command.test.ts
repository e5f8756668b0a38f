import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { run } from '../../cli/program.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

/** A process that drives a world; it is killed with the test, or before. */
async function driver(folder: string, world: string) {
  const program = join(import.meta.dirname, '../../programs/world-driver.ts')
  const child = spawn(process.execPath, ['--conditions=entia-source', program, folder, world], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  expect(line).toBe('driven')
  return { pid: child.pid, kill, isAlive: () => child.exitCode === null && child.signalCode === null }
}

describe('entia worlds, beside a program that drives a world', () => {
  it('shows what it does without disturbing it, and once it is killed, that no one drives it', async () => {
    const folder = await tempFolder()
    const { isAlive, kill, pid } = await driver(folder, 'desk/4711')
    const worlds = (...words: readonly string[]) => run(['worlds', ...words, '--store', '.'], { in: folder })

    const listed = await worlds('list', '--json')
    expect(listed).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(listed.stdout)).toMatchObject({ name: 'desk/4711', isBusy: true, heldBy: { pid }, sessions: 1 })
    const shown = await worlds('show', 'desk/4711')
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    expect(shown.stdout).toContain(`Driven by a Runner (process ${pid} on `)
    expect(shown.stdout).toContain('tool dig {"where":"cellar"}  running for ')
    expect(isAlive()).toBe(true)

    await kill()
    expect((await worlds('show', 'desk/4711')).stdout).toContain('stalled: it has work in flight')
    expect(await worlds('show', 'desk/471')).toMatchObject({
      code: 1,
      stderr: "entia: There is no world 'desk/471' in .. Did you mean 'desk/4711'?\n",
    })
    expect(await worlds('show', 'desk/4711', '--to', 'x')).toMatchObject({
      code: 2,
      stderr: 'entia: --to must be an integer ≥ 0, got x. See entia worlds --help.\n',
    })
  })
})
