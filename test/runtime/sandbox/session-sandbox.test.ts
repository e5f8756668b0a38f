import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openSandbox, placeInSandbox } from '../../../src/runtime/sandbox/open-sandbox.ts'
import { sandboxPackages, sandboxParts } from '../../../src/runtime/sandbox/sandbox-parts.ts'
import { SessionSandbox } from '../../../src/runtime/sandbox/session-sandbox.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { toolsIn } from '../tools/tools-in.ts'

/** Programs of this name in a folder on the PATH. */
async function onPath(folder: string, ...names: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const name of names) {
    await writeFile(join(folder, name), '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n')
    await chmod(join(folder, name), 0o755)
  }
  vi.stubEnv('PATH', `${folder}${delimiter}/nowhere`)
  onTestFinished(() => void vi.unstubAllEnvs())
}

async function opened(mode: 'auto' | 'require', cwd: string): Promise<SessionSandbox> {
  const folders = { config: join(cwd, 'c'), data: join(cwd, 'd'), cache: join(cwd, 'e'), state: join(cwd, 'f') }
  const sandbox = await SessionSandbox.open({ mode, cwd, home: cwd, folders, config: {} })
  onTestFinished(() => sandbox.close())
  return sandbox
}

const path = process.env['PATH']
const isLinux = process.platform === 'linux'

describe.runIf(isLinux)('where bubblewrap is missing', () => {
  it('says what to install', async () => {
    const cwd = await tempFolder()
    await onPath(join(cwd, 'bin'))
    expect(await sandboxParts(cwd)).toEqual({
      why: 'bubblewrap and socat are not installed. Install them with the package manager of your system, such as: apt-get install bubblewrap socat',
    })
  })

  it('and where there is no filter of sockets for the processor, says so', async () => {
    const { arch } = process
    onTestFinished(() => void Object.defineProperty(process, 'arch', { value: arch }))
    Object.defineProperty(process, 'arch', { value: 'riscv64' })
    expect(await sandboxParts(await tempFolder())).toEqual({ why: 'There is no sandbox for Linux on riscv64.' })
  })

  it('takes none of the project', async () => {
    const cwd = await tempFolder()
    await onPath(join(cwd, 'node_modules/.bin'), 'bwrap', 'socat')
    const linked = join(await tempFolder(), 'bin')
    await symlink(join(cwd, 'node_modules/.bin'), linked)
    vi.stubEnv('PATH', `${process.env['PATH']}${delimiter}${linked}`)
    expect(await sandboxParts(cwd)).toEqual({ why: expect.stringContaining('bubblewrap and socat are not installed') })
  })

  it('all is as without a sandbox', async () => {
    const cwd = await tempFolder()
    await onPath(await tempFolder())
    const sandbox = await opened('auto', cwd)
    expect([await sandbox.isThere(), sandbox.rules]).toEqual([false, undefined])
    const call = toolsIn(cwd, { env: { ...process.env, PATH: path }, sandbox })
    expect(await call('bash', { command: 'echo 1' })).toBe('1')
    expect(JSON.stringify(call.tools)).not.toContain('andbox')
    const place = placeInSandbox(sandbox, {}, true)
    expect(await place?.({ tool: 'bash', arguments: {}, channel: 'cli', home: cwd, cwd })).toBeUndefined()
  })

  it('nothing is started where a sandbox is required, and the model reads what to install', async () => {
    const cwd = await tempFolder()
    await onPath(await tempFolder())
    const call = toolsIn(cwd, { env: { ...process.env, PATH: path }, sandbox: await opened('require', cwd) })
    const refused = /^(?:Error: )?Nothing is started: a sandbox is required .* apt-get install bubblewrap socat/
    expect(await call('bash', { command: 'touch begun' })).toMatch(refused)
    expect(await call('bash', { command: 'touch begun', background: true })).toMatch(refused)
    expect(await call('run_js', { code: '1' })).toMatch(refused)
    expect(await call('list_files', {})).toBe('[no entries]')
  })
})

describe.runIf(isLinux)('where the system refuses a namespace', () => {
  it('gives its words', async () => {
    const folder = await tempFolder()
    await onPath(folder, 'bwrap', 'socat')
    const sandbox = await opened('auto', await tempFolder())
    expect(await sandbox.isThere()).toBe(false)
    expect(sandbox.missing).toMatch(
      /^The system refuses to make a namespace \(bwrap: No permissions to create new namespace\)\./,
    )
  })
})

describe('what makes a sandbox', () => {
  it('lies in packages, but for sources of Entia itself', () => {
    expect(sandboxPackages()).toEqual([expect.stringMatching(/node_modules[/\\]@anthropic-ai[/\\]sandbox-runtime$/)])
  })
})

describe('a sandbox that is off', () => {
  it('is not there', async () => {
    const cwd = await tempFolder()
    const folders = { config: cwd, data: cwd, cache: cwd, state: cwd }
    expect(await openSandbox({ sandbox: 'off' }, { cwd, home: cwd, folders })).toBeUndefined()
    expect(placeInSandbox(undefined, {}, true)).toBeUndefined()
  })
})
