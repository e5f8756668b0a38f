import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { askArguments } from '../../src/cli/ask-arguments.ts'
import { smallTierGuard } from '../../src/cli/choose-model.ts'
import { readConfig } from '../../src/doors/context.ts'
import { tempFolder } from '../tools/temp-folder.ts'
import { run } from './program.ts'

/** A terminal, as far as a program asks. */
const terminal = { NODE_OPTIONS: '--import=data:text/javascript,process.stdout.isTTY=true' }

describe('entia on a terminal', () => {
  it('does not begin with a small model where that is refused, and says why', async () => {
    const words = ['.', '--model', 'anthropic/claude-haiku-4-5', '--small-tier-parent=refuse']
    const folder = await tempFolder({ 'a.md': 'A' })
    const env = { ANTHROPIC_API_KEY: 'none', ...terminal }
    const { code, stderr } = await run(['ask', ...words], { in: folder, env })
    expect([code, stderr.split('\n')[0]]).toEqual([2, 'entia: small-tier parent: anthropic/claude-haiku-4-5'])
    expect(existsSync(join(folder, '.entia'))).toBe(false)
  })
})

describe('a session whose own model is small', () => {
  const session = { model: 'anthropic/claude-haiku-4-5', yolo: false, oneShot: false, interactive: true }

  function guarded(words: readonly string[], options: Partial<typeof session> = {}) {
    let said = ''
    const config = readConfig(askArguments(words).flags)
    const code = smallTierGuard({ ...session, config, ...options }, { write: (text: string) => (said += text) })
    return { code, said }
  }

  it('begins with a notice, or does not begin', () => {
    const { code, said } = guarded([])
    expect(code).toBeUndefined()
    expect(said).toMatch(/^entia: small-tier parent: anthropic\/claude-haiku-4-5\n/)
    expect(said).toContain('--agentic-small-model')
    expect(said).toContain('claude-opus-4-7')
    expect(said.endsWith('--small-tier-parent=allow silences this notice.\n')).toBe(true)
    expect(guarded(['--small-tier-parent=refuse'])).toEqual({ code: 2, said })
  })

  it.for<[string, readonly string[], Partial<typeof session>]>([
    ['allowed', ['--small-tier-parent=allow'], {}],
    ['for one prompt', ['--small-tier-parent=refuse'], { oneShot: true }],
    ['told not to ask', ['--small-tier-parent=refuse'], { yolo: true }],
    ['without a person', ['--small-tier-parent=refuse'], { interactive: false }],
    ['of no known tier', ['--small-tier-parent=refuse'], { model: 'ollama/llama3.3' }],
  ])('begins without a word if it is %s', ([, words, options]) => {
    expect(guarded(words, options)).toEqual({ code: undefined, said: '' })
  })
})
