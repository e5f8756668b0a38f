import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allowAlways } from '../../../src/runtime/config/allow-always.ts'
import { readRuntimeConfig } from '../../../src/runtime/config/read-runtime-config.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

describe('a tool that is always allowed', () => {
  it.for<[what: string, before: string, after: string]>([
    ['an empty file', '', '{\n  "permissions": {\n    "bash": "allow"\n  }\n}\n'],
    [
      'comments, tabs and a comma at the end',
      '// mine\n{\n\t"provider": "openai", // cheap\n\t"permissions": {\n\t\t/* never */ "run_js": "deny",\n\t},\n}\n',
      '// mine\n{\n\t"provider": "openai", // cheap\n\t"permissions": {\n\t\t/* never */ "run_js": "deny",\n\t\t"bash": "allow",\n\t},\n}\n',
    ],
    [
      'CRLF, four blanks and a byte order mark',
      '\ufeff{\r\n    "maxSteps": 7\r\n}\r\n',
      '\ufeff{\r\n    "maxSteps": 7,\r\n    "permissions": {\r\n        "bash": "allow"\r\n    }\r\n}\r\n',
    ],
    ['another answer', '{"permissions":{"bash":"ask"}}', '{"permissions":{"bash":"allow"}}'],
  ])('stands in the configuration, which keeps all else: %s', async ([, before, after]) => {
    const folder = await tempFolder({ 'config.json': before })
    expect(await allowAlways('bash', folder)).toBe(join(folder, 'config.json'))
    expect(await readFile(join(folder, 'config.json'), 'utf8')).toBe(after)
    await allowAlways('bash', folder)
    expect(await readFile(join(folder, 'config.json'), 'utf8')).toBe(after)
  })

  it('makes a file for its owner alone, which counts in the next chat', async () => {
    const home = await tempFolder()
    const config = join(home, 'new/config')
    await allowAlways('github__create-issue', config)
    expect((await stat(join(config, 'config.json'))).mode & 0o777).toBe(0o600)
    const folders = { config, data: home, cache: home, state: home }
    const read = await readRuntimeConfig({ cwd: home, folders, home })
    expect(read.config.permissions).toEqual({ 'github__create-issue': 'allow' })
  })

  it('leaves a file alone that is no JSON, and says where', async () => {
    const folder = await tempFolder({ 'config.json': '{ "permissions": ' })
    await expect(allowAlways('bash', folder)).rejects.toMatchObject({ code: 'config-invalid' })
    expect(await readFile(join(folder, 'config.json'), 'utf8')).toBe('{ "permissions": ')
  })
})
