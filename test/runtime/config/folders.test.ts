import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folders, makePrivateFolder, writePrivateFile } from '../../../src/runtime/config/folders.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8)
}

function umask(mask: number): void {
  const before = process.umask(mask)
  onTestFinished(() => void process.umask(before))
}

describe('the folders of the runtime', () => {
  it("are those of the system's convention", () => {
    const { config, data, cache, state } = folders({})
    for (const folder of [config, data, cache]) expect(folder).toMatch(/[\\/]entia(?:[\\/]|$)/)
    expect(state).toBe(join(data, 'state'))
    expect(folders({ ENTIA_CONFIG_DIR: '' })).toEqual(folders({}))
  })

  it('are those that the environment names, relative ones from the working folder', () => {
    expect(folders({ ENTIA_CONFIG_DIR: '/c', ENTIA_DATA_DIR: 'd', ENTIA_CACHE_DIR: '/e' }, '/here')).toEqual({
      ...{ config: '/c', data: '/here/d', cache: '/e', state: '/here/d/state' },
    })
    expect(folders({ ENTIA_STATE_DIR: '/s' }).state).toBe('/s')
  })

  it.for([[0o000], [0o022], [0o777]])('are made for this user alone under a umask of %o', async ([mask = 0]) => {
    const home = await tempFolder()
    umask(mask)
    await makePrivateFolder(join(home, 'share/entia/sessions'))
    for (const path of ['share', 'share/entia', 'share/entia/sessions']) {
      expect(await modeOf(join(home, path))).toBe('700')
    }
  })

  it('stay as they are where they are there', async () => {
    const home = await tempFolder()
    umask(0)
    await mkdir(join(home, 'shared'), { mode: 0o755 })
    await makePrivateFolder(join(home, 'shared/entia'))
    await Promise.all([makePrivateFolder(join(home, 'shared/both')), makePrivateFolder(join(home, 'shared/both'))])
    expect(await modeOf(join(home, 'shared'))).toBe('755')
  })

  it('that cannot be made are named with the reason, when something is written and not before', async () => {
    const home = await tempFolder({ file: '' })
    const { data } = folders({ ENTIA_DATA_DIR: join(home, 'file/data') })
    const refusal = {
      code: 'store-failed',
      message: expect.stringMatching(/^The folder \S+data cannot be made: .*ENTIA_DATA_DIR/),
    }
    await expect(makePrivateFolder(data)).rejects.toThrow(expect.objectContaining(refusal))
  })
})

describe('a file of the runtime', () => {
  it.for([[0o000], [0o777]])('is written for this user alone under a umask of %o, and whole', async ([mask = 0]) => {
    const home = await tempFolder()
    const path = join(home, 'state/token')
    umask(mask)
    await writePrivateFile(path, 'one')
    await writePrivateFile(path, 'two')
    expect([await modeOf(path), await readFile(path, 'utf8')]).toEqual(['600', 'two'])
    expect(await readdir(join(home, 'state'))).toEqual(['token'])
  })

  it('is closed to others when it is replaced', async () => {
    const path = join(await tempFolder(), 'token')
    umask(0)
    await writeFile(path, 'open', { mode: 0o644 })
    await writePrivateFile(path, 'closed')
    expect(await modeOf(path)).toBe('600')
  })
})
