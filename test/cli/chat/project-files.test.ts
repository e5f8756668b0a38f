import { describe, expect, it } from 'vitest'
import { ProjectFiles } from '../../../src/cli/chat/project-files.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

describe('the files of a project', () => {
  it('are known near its folder where there are too many, and the others by their folder', async () => {
    const crowd = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`a/b/c${index}.ts`, '']))
    const cwd = await tempFolder({ ...crowd, 'main.ts': '', 'z/last one.ts': '', 'z/y/deep.ts': '' })
    const { promise, resolve } = Promise.withResolvers<void>()
    const files = new ProjectFiles(cwd, resolve, 4)
    files.find('', 10)
    await promise
    expect(files.find('', 10)).toEqual(['main.ts', 'a/', 'z/'])
    expect(files.find('last', 10)).toEqual([])
    expect(files.find('z/', 10)).toEqual(['z/last one.ts', 'z/y/'])
    expect(files.find('z/y/d', 10)).toEqual(['z/y/deep.ts'])
  })
})
