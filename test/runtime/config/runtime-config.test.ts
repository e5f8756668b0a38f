import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { checkSettings, snakeCase } from '../../../src/rules/config/check-settings.ts'
import { type RuntimeConfig, RuntimeConfigSchema } from '../../../src/runtime/config/runtime-config.ts'

/** A value for each key, as the documentation explains it. */
const everything: RuntimeConfig = {
  $schema: './node_modules/entia/config.schema.json',
  provider: 'mine',
  model: 'mine/small',
  localModels: ['gpt-oss:20b'],
  maxSteps: 30,
  tools: ['core', 'web'],
  toolPackages: ['entia-tools-example'],
  approvalMode: 'ask',
  dangerousTools: ['bash'],
  permissions: {
    git_log: 'allow',
    bash: {
      allow: [{ command: 'npm test', places: ['project', 'temporary'], folder: '~/work/app' }, {}],
      otherwise: 'ask',
    },
  },
  allowedPaths: ['~/work'],
  deniedPaths: ['~/work/private'],
  personalPaths: ['~/Documents'],
  codePaths: ['~/src'],
  routing: 'enforce',
  sandbox: 'require',
  sandboxedCommands: 'ask',
  allowedDomains: ['registry.npmjs.org', '*.example.com:443'],
  passEnv: ['NPM_TOKEN'],
  trustedFolders: ['~/work/app'],
  providers: {
    mine: { api: 'openai-chat', baseUrl: 'http://localhost:8000/v1', apiKeyEnv: 'MY_KEY', defaultModel: 'x' },
  },
  fetch: { allowPrivate: ['localhost:3000'] },
  mcp: {
    servers: {
      notes: {
        ...{ command: 'notes', args: ['--stdio'], env: { A: 'b' }, trusted: true },
        ...{ sandbox: true, writePaths: ['~/notes'], allowedDomains: ['127.0.0.1:80'] },
      },
    },
  },
  subagents: { enabled: true, defaultPreset: 'work', exposeOverMcp: false, mcpSpendCapUsd: null },
  archival: { enabled: true },
  context: { taskClass: 'chat' },
  ceilings: { maxTurnCostUsd: 1 },
  workspace: { maxRetrievedChars: 16_000 },
}

describe('the schema of the configuration', () => {
  it('takes every key that there is', () => {
    expect(checkSettings(RuntimeConfigSchema(), everything)).toEqual({ value: everything, problems: [] })
    expect(Object.keys(RuntimeConfigSchema().shape).toSorted()).toEqual(Object.keys(everything).toSorted())
  })

  it.for<[object | string, problem: string]>([
    ['yes', 'permissions.bash: expected allow, ask or deny, got "yes"'],
    [['ls'], 'permissions.bash: expected an object, got a list'],
    [{}, 'permissions.bash: expected the key allow in it, got an object without'],
    [{ allow: 'ls' }, 'permissions.bash.allow: expected a list, got "ls"'],
    [{ allow: ['ls'] }, 'permissions.bash.allow[0]: expected an object, got "ls"'],
    [{ allow: [], otherwise: 'deny' }, 'permissions.bash.otherwise: expected ask, got "deny"'],
    [{ allow: [{}, { command: ' ' }] }, 'permissions.bash.allow[1].command: expected a command, got " "'],
    [
      { allow: [{ tool: 'x' }] },
      'permissions.bash.allow[0].tool: expected one of command, places, folder, got a key that is not known',
    ],
    [
      { allow: [{ places: ['project', 'home'] }] },
      'permissions.bash.allow[0].places: expected a list of project, code, temporary, other, got a list whose entry 2 is "home"',
    ],
    [
      { allow: [{ folder: 'app' }] },
      'permissions.bash.allow[0].folder: expected an absolute path, or one that begins with ~, got "app"',
    ],
  ])('refuses for a tool %j', ([permission, problem]) => {
    const { problems } = checkSettings(RuntimeConfigSchema(), { permissions: { bash: permission } })
    expect(problems.map(({ expected, got, path }) => `${path}: expected ${expected}, got ${got}`)).toEqual([problem])
  })

  it('is published as JSON Schema with the package, each key in both spellings', async () => {
    expect(manifest.files).toContain('config.schema.json')
    const text = await readFile(new URL('../../../config.schema.json', import.meta.url), 'utf8')
    const { properties, additionalProperties } = JSON.parse(text) as {
      properties: object
      additionalProperties: boolean
    }
    const keys = Object.keys(everything)
    expect(Object.keys(properties).toSorted()).toEqual([...new Set([...keys, ...keys.map(snakeCase)])].toSorted())
    expect(additionalProperties).toBe(false)
  })
})
