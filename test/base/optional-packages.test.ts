import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { optionalPackages } from '../../src/base/optional-packages.ts'

const source = pathToFileURL(join(import.meta.dirname, '../../src/base/optional-packages.ts')).href

describe('a package that a door needs', () => {
  it('and that is there is loaded', async () => {
    const { Server } = await optionalPackages(
      'serve',
      ['@modelcontextprotocol/server'],
      () => import('@modelcontextprotocol/server'),
    )
    expect(Server).toBeTypeOf('function')
  })

  it('and that is missing is named, with the line that installs it', async () => {
    const missing = "optionalPackages('serve', ['@other/server', '@other/node'], () => import('@other/server/stdio'))"
    expect(await thrownBy(missing)).toEqual({
      code: 'missing-peer',
      message:
        'serve needs the packages @other/server and @other/node, and @other/server is not installed. Type: npm install @other/server @other/node',
    })
  })

  it('and that is broken is not said to be missing', async () => {
    const broken = "optionalPackages('serve', ['broken'], () => import('broken'))"
    expect(await thrownBy(broken)).toMatchObject({
      code: 'ERR_MODULE_NOT_FOUND',
      message: expect.stringMatching(/'its-own-part'/),
    })
  })
})

/** What a program throws in a project with one package, which lacks one of its own. */
async function thrownBy(expression: string): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'entia-optional-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const home = join(folder, 'node_modules/broken')
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'package.json'), '{ "type": "module", "exports": "./index.js" }')
  await writeFile(join(home, 'index.js'), "import 'its-own-part'")
  const program = join(folder, 'program.mjs')
  const text = `
    import { optionalPackages } from ${JSON.stringify(source)}
    await ${expression}.catch(({ code, message }) => console.log(JSON.stringify({ code, message })))`
  await writeFile(program, text)
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=entia-source', program])
  return JSON.parse(stdout)
}
