import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allowAlways } from '../../../src/runtime/config/allow-always.ts'
import { readRuntimeConfig } from '../../../src/runtime/config/read-runtime-config.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

const calls = { command: 'npm test', places: ['project'], folder: '/app' } as const
const others = { command: 'git log' }

describe('calls that are always allowed', () => {
  it.for<[what: string, before: string, after: string]>([
    [
      'an empty file',
      '',
      `{
  "permissions": {
    "bash": {
      "allow": [
        {
          "command": "npm test",
          "places": [
            "project"
          ],
          "folder": "/app"
        }
      ]
    }
  }
}
`,
    ],
    [
      'comments, tabs and a comma at the end',
      '// mine\n{\n\t"provider": "openai", // cheap\n\t"permissions": {\n\t\t/* never */ "run_js": "deny",\n\t},\n}\n',
      '// mine\n{\n\t"provider": "openai", // cheap\n\t"permissions": {\n\t\t/* never */ "run_js": "deny",\n\t\t"bash": {\n\t\t\t"allow": [\n\t\t\t\t{\n\t\t\t\t\t"command": "npm test",\n\t\t\t\t\t"places": [\n\t\t\t\t\t\t"project"\n\t\t\t\t\t],\n\t\t\t\t\t"folder": "/app"\n\t\t\t\t}\n\t\t\t]\n\t\t},\n\t},\n}\n',
    ],
    [
      'CRLF, four blanks and a byte order mark',
      '\ufeff{\r\n    "maxSteps": 7\r\n}\r\n',
      '\ufeff{\r\n    "maxSteps": 7,\r\n    "permissions": {\r\n        "bash": {\r\n            "allow": [\r\n                {\r\n                    "command": "npm test",\r\n                    "places": [\r\n                        "project"\r\n                    ],\r\n                    "folder": "/app"\r\n                }\r\n            ]\r\n        }\r\n    }\r\n}\r\n',
    ],
  ])('stand in the configuration, which keeps all else: %s', async ([, before, after]) => {
    const folder = await tempFolder({ 'config.json': before })
    expect(await allowAlways('bash', calls, folder)).toBe(join(folder, 'config.json'))
    expect(await readFile(join(folder, 'config.json'), 'utf8')).toBe(after)
    await allowAlways('bash', calls, folder)
    expect(await readFile(join(folder, 'config.json'), 'utf8')).toBe(after)
  })

  it.for<[what: string, before: unknown, after: unknown]>([
    ['that the tool asks otherwise', 'ask', { otherwise: 'ask', allow: [calls] }],
    ['that all calls are allowed', 'allow', 'allow'],
    ['earlier rules', { otherwise: 'ask', allow: [others] }, { otherwise: 'ask', allow: [others, calls] }],
    [
      'the same rule',
      { allow: [{ command: 'npm test', folder: '/app' }] },
      { allow: [{ command: 'npm test', folder: '/app' }] },
    ],
    ['a rule without a folder', { allow: [{ command: 'npm test' }] }, { allow: [{ command: 'npm test' }, calls] }],
  ])('leave what the configuration says already: %s', async ([, before, after]) => {
    const folder = await tempFolder({ 'config.json': JSON.stringify({ permissions: { bash: before } }) })
    await allowAlways('bash', calls, folder)
    expect(JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'))).toEqual({ permissions: { bash: after } })
  })

  it('make a file for its owner alone, which counts in the next chat', async () => {
    const home = await tempFolder()
    const config = join(home, 'new/config')
    await allowAlways('github__create-issue', { places: [], folder: home }, config)
    expect((await stat(join(config, 'config.json'))).mode & 0o777).toBe(0o600)
    const folders = { config, data: home, cache: home, state: home }
    const read = await readRuntimeConfig({ cwd: home, folders, home })
    expect(read.config.permissions).toEqual({ 'github__create-issue': { allow: [{ places: [], folder: home }] } })
  })

  it.for([
    ['that is no JSON', '{ "permissions": ', 'config.json:1:18: expected'],
    ['whose settings are wrong', '{ "permissions": [] }', 'permissions: expected an object, got a list'],
    ['that denies the tool', '{ "permissions": { "bash": "deny" } }', 'denies bash'],
  ] as const)('leave a file alone %s, and say where', async ([, text, message]) => {
    const folder = await tempFolder({ 'config.json': text })
    await expect(allowAlways('bash', calls, folder)).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining(message) as string,
    })
    expect(await readFile(join(folder, 'config.json'), 'utf8')).toBe(text)
  })
})
