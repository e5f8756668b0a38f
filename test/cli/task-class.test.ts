import { describe, expect, it } from 'vitest'
import { askArguments } from '../../src/cli/ask-arguments.ts'
import { chooseModel } from '../../src/cli/choose-model.ts'
import { readSettings } from '../../src/cli/config/settings.ts'
import { compactionThreshold, modelTier, readConfig } from '../../src/doors/context.ts'
import { tempFolder } from '../tools/temp-folder.ts'

describe('a task class', () => {
  const anthropic = { ANTHROPIC_API_KEY: 'a' }

  /** What holds with these options and this file of the person's own. */
  async function taken(words: readonly string[], file: object = {}) {
    const own = await tempFolder({ 'config.json': JSON.stringify(file) })
    const args = askArguments(words)
    const environment = { ENTIA_CONFIG_DIR: own }
    const { config, approvalMode } = await readSettings({ flags: args.flags, environment, cwd: own })
    const model = chooseModel(args.model, anthropic, config)
    const { taskClass, compaction } = config.context
    return {
      model,
      approvalMode,
      threshold: compactionThreshold({ tier: modelTier(model), taskClass, config: compaction }).value,
    }
  }

  it("chooses the provider's model, the mode and the threshold", async () => {
    const class65 = { model: 'anthropic/claude-sonnet-4-6', approvalMode: 'allow', threshold: 0.65 }
    expect(await taken(['--task=research'])).toEqual(class65)
    expect(await taken(['--task=research', '--model=anthropic'])).toEqual(class65)
    expect(await taken(['--task=debug'])).toEqual({
      model: 'anthropic/claude-opus-4-7',
      approvalMode: 'ask',
      threshold: 0.65,
    })
  })

  it('leaves what the person has set, by an option or in a file', async () => {
    const set = { model: 'anthropic/claude-opus-5', approvalMode: 'deny' }
    expect(await taken(['--task=research'], set)).toEqual({ ...set, threshold: 0.65 })
    expect(await taken(['--task=research', '--model=anthropic/claude-haiku-4-5'], set)).toMatchObject({
      model: 'anthropic/claude-haiku-4-5',
    })
    expect(await taken(['--task=research', '--yolo'], set)).toMatchObject({ approvalMode: 'allow' })
    expect(await taken(['--task=research', '--compaction-threshold=0.9'])).toMatchObject({ threshold: 0.9 })
  })

  it('names no model of another provider, unless the configuration does', () => {
    const { context } = readConfig(askArguments(['--task=research']).flags)
    const keyless = chooseModel('openai', {}, {})
    expect(chooseModel('openai', {}, { context })).toBe(keyless)
    expect(chooseModel(undefined, {}, { context })).toBe('scripted/reader')
    const table = readConfig({
      context: { taskClass: 'research', modelsByTier: { moonshot: { mid: 'moonshot/kimi' } } },
    })
    expect(chooseModel('moonshot', {}, table)).toBe('moonshot/kimi')
  })

  it('gives way to a model of the configuration, which is refused if it is none', () => {
    const { context } = readConfig(askArguments(['--task=research']).flags)
    expect(chooseModel(undefined, anthropic, { model: 'openai/x', context })).toBe('openai/x')
    expect(() => chooseModel(undefined, anthropic, { model: 'acme/x' })).toThrow(
      `model must be PROVIDER/NAME, got the unknown provider 'acme'.`,
    )
  })
})
