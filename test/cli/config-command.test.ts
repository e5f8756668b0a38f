import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configCommand } from '../../src/cli/config-command.ts'
import { UsageError } from '../../src/cli/parsed-words.ts'
import { tempFolder } from '../tools/temp-folder.ts'
import { run } from './program.ts'

/** A working folder, a config folder with these files, and what a command prints about them. */
async function told(words: readonly string[], { own = {}, project = {}, env = {} } = {}) {
  const config = await tempFolder(own)
  const cwd = await tempFolder(project)
  let [stdout, stderr] = ['', '']
  const code = await configCommand(words, {
    environment: { ENTIA_CONFIG_DIR: config, ENTIA_DATA_DIR: 'data', ...env },
    cwd,
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
  })
  return { code, stdout, stderr, config, cwd }
}

describe('entia config path', () => {
  it('says where the files and folders are', async () => {
    const { code, stdout, config, cwd } = await told(['path'], { own: { 'config.json': '{}' } })
    expect(code).toBe(0)
    expect(stdout.split('\n')).toEqual([
      join(config, 'config.json'),
      `${join(cwd, '.entia/config.json')}  (not there)`,
      '',
      `config  ${config}`,
      `data    ${join(cwd, 'data')}`,
      expect.stringMatching(/^cache {3}\S/),
      `state   ${join(cwd, 'data/state')}`,
      '',
    ])
  })

  it('prints one object with --json, for another folder with --cwd', async () => {
    const other = await tempFolder({ '.entia/config.json': '{}' })
    const { stdout, config } = await told(['path', '--json', '--cwd', other])
    expect(JSON.parse(stdout)).toMatchObject({
      files: [
        { path: join(config, 'config.json'), exists: false },
        { path: join(other, '.entia/config.json'), exists: true },
      ],
      folders: { config },
    })
  })
})

describe('entia config check', () => {
  it('says what was read, which model it comes to, and what is ignored', async () => {
    const own = { 'config.json': '{ "provider": "openai" }' }
    const project = { '.entia/config.json': '{ "approvalMode": "allow" }' }
    const { code, stdout, stderr, config, cwd } = await told(['check'], { own, project })
    expect(code).toBe(0)
    expect(stdout.split('\n')).toEqual([
      join(config, 'config.json'),
      join(cwd, '.entia/config.json'),
      expect.stringMatching(/^Model: openai\/gpt-\S+ {2}\(OPENAI_API_KEY is not set\)$/),
      'The configuration can be used.',
      '',
    ])
    expect(stderr).toMatch(/^entia: This folder is not trusted, .*\n {2}\S+:1:3: approvalMode\n/)
  })

  it('holds without files', async () => {
    const { stdout } = await told(['check'], { env: { ANTHROPIC_API_KEY: 'a' } })
    expect(stdout).toMatch(/^There is no configuration file; defaults hold\.\nModel: anthropic\/\S+\n/)
  })

  it('prints one object with --json, with the problems where there are some', async () => {
    const fine = await told(['check', '--json'], { own: { 'config.json': '{ "provider": "ollama" }' } })
    expect(JSON.parse(fine.stdout)).toMatchObject({ isValid: true, provider: 'ollama', isKeySet: true })
    const wrong = await told(['check', '--json'], { own: { 'config.json': '{\n "maxSteps": 0 }' } })
    expect(wrong.code).toBe(2)
    expect(JSON.parse(wrong.stdout)).toMatchObject({
      ...{ isValid: false, code: 'config-invalid' },
      problems: [{ path: 'maxSteps', line: 2, column: 2, expected: 'an integer ≥ 1', got: '0' }],
    })
  })

  it('ends the program with 2 where the configuration cannot be used', async () => {
    const cwd = await tempFolder({ '.entia/config.json': '{\n  "provider": "ollama",\n  "maxStep": 5\n}' })
    const { code, stdout, stderr } = await run(['config', 'check'], { in: cwd })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/config\.json:3:3: maxStep: expected .*Did you mean 'maxSteps'\?\n$/)
    const conflict = await tempFolder({ '.entia/config.json': '{ "provider": "openai", "model": "ollama/x" }' })
    expect((await run(['config', 'check'], { in: conflict })).code).toBe(2)
  }, 60_000)

  it.for([
    [[], 'entia config needs a command: check or path.'],
    [['chek'], "There is no command 'entia config chek'. Did you mean 'check'?"],
    [['check', 'it'], 'entia config check takes no more words, got it.'],
  ] as const)('refuses %j', async ([words, message]) => {
    await expect(told(words)).rejects.toThrow(new UsageError(message))
  })
})
