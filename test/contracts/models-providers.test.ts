import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parseModel } from '../../src/models/model-name.ts'
import { builtInProviders } from '../../src/models/providers.ts'

const run = promisify(execFile)

describe('the built-in providers', () => {
  it('are the four that the documentation names', () => {
    expect(Object.keys(builtInProviders())).toEqual(['anthropic', 'openai', 'ollama', 'moonshot'])
  })

  it('load no SDK until one of them is called', async () => {
    const program = `
      import { registerHooks } from 'node:module'
      const loaded = []
      registerHooks({ resolve: (name, context, next) => (loaded.push(name), next(name, context)) })
      const { builtInProviders } = await import(process.argv[1])
      const { anthropic } = builtInProviders()
      const sdks = () => loaded.filter((name) => /^(@anthropic-ai|openai)/.test(name)).join()
      const before = sdks()
      process.env.ANTHROPIC_API_KEY = 'key'
      await anthropic.models().catch(() => {})
      console.log(JSON.stringify({ before, after: sdks() }))
    `
    const module = new URL('../../src/models/providers.ts', import.meta.url).href
    const env = { ...process.env, ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program, module], { env })
    const { before, after } = JSON.parse(stdout)
    expect(before).toBe('')
    expect(after).toContain('@anthropic-ai/sdk')
    expect(after).not.toContain('openai')
  })
})

describe('the name of a model', () => {
  it.each([
    ['anthropic/claude-sonnet-5', 'anthropic', 'claude-sonnet-5'],
    ['local/org/model', 'local', 'org/model'],
    ['lead', 'lead', 'lead'],
  ])('%s is split at its first slash', (name, provider, model) => {
    expect(parseModel(name)).toEqual({ provider, model })
  })
})
