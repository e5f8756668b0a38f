import type { Json } from 'entia'
import type { PolicyConfig } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { committed } from '../../runtime/tools/repositories.ts'
import { addFiles } from '../../tools/temp-folder.ts'
import { transcript } from '../../transcript.ts'
import { call, homeWith, judged, settledCalls, steps } from './judged-agent.ts'

const files = {
  '.ssh/known_hosts': 'needle',
  '.config/entia/config.json': 'needle',
  'Documents/diary.txt': 'needle',
  'other/o.txt': 'needle',
  'projects/app/a.ts': 'needle',
  'projects/app/secret/plan.txt': 'needle',
}

/** The result of one call, and its class. */
async function resultOf(
  name: string,
  given: Readonly<Record<string, Json>>,
  config?: PolicyConfig,
  prepare: (home: string) => Promise<void> = async () => undefined,
) {
  const home = await homeWith(files)
  await prepare(home)
  const run = judged({ home, behaviour: steps([call(name, given)]), ...(config && { config }) })
  await run.settle()
  const [{ dataClass } = {}] = settledCalls(run)
  const result = transcript(run.world, run.agent)[2] ?? ''
  return {
    dataClass,
    lines: result
      .slice(result.indexOf(': ') + 2)
      .replaceAll(home, '~')
      .split('\n'),
  }
}

describe('a call that goes through a folder', () => {
  it('leaves out personal folders and credentials below it: the folder is what it was judged by', async () => {
    expect(await resultOf('grep_files', { path: '~', pattern: 'needle' })).toEqual({
      dataClass: 'other',
      lines: [
        '~/other/o.txt:1: needle',
        '~/projects/app/a.ts:1: needle',
        '~/projects/app/secret/plan.txt:1: needle',
        '[2 credential files skipped]',
        '[1 personal paths skipped]',
      ],
    })
    expect(await resultOf('list_files', { path: '~', recursive: true, hidden: true })).toEqual({
      dataClass: 'other',
      lines: [
        ...['~/.config/', '~/other/', '~/other/o.txt', '~/projects/', './', 'a.ts', 'secret/', 'secret/plan.txt'],
        ...['[2 credential files skipped]', '[1 personal paths skipped]'],
      ],
    })
  })

  it('leaves out denied folders below the working folder', async () => {
    const config = { deniedPaths: ['~/projects/app/secret'] }
    const lines = ['a.ts:1: needle', '[1 denied paths skipped]']
    expect((await resultOf('grep_files', { pattern: 'needle' }, config)).lines).toEqual(lines)
    expect((await resultOf('list_files', { recursive: true }, config)).lines).toEqual(['a.ts', lines[1]])
    expect((await resultOf('list_files', { pattern: 'secret/**', recursive: true }, config)).lines).toEqual([
      '[no entries]',
      lines[1],
    ])
  })

  it('of a repository leaves out what is closed in it, and what lies outside of the working folder', async () => {
    const changedIn = async (home: string): Promise<void> => {
      committed(home)
      const changed = ['.ssh/known_hosts', 'Documents/diary.txt', 'other/o.txt', 'projects/app/a.ts']
      await addFiles(home, Object.fromEntries([...changed, 'projects/app/secret/plan.txt'].map((path) => [path, '\n'])))
    }
    const config = { deniedPaths: ['~/projects/app/secret'] }
    expect((await resultOf('git_status', {}, config, changedIn)).lines).toEqual([
      ...['## main', ' M a.ts', '[1 denied paths skipped]', '[3 files outside of the working folder skipped]'],
    ])
    const { dataClass, lines } = await resultOf('git_status', { path: '~' }, config, changedIn)
    expect(dataClass).toBe('other')
    expect(lines).toEqual([
      ...['## main', ' M ../../other/o.txt', ' M a.ts'],
      ...['[1 credential files skipped]', '[1 denied paths skipped]', '[1 personal paths skipped]'],
    ])
  })
})
