import { Conversation, fail, type RunnerOptions } from 'entia'
import { describe, expect, it } from 'vitest'
import { rejection } from '../turns/driving.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { fromFile } from './dying-team.ts'
import { program, type Program } from './program.ts'
import { answerIn, call, calls, stepwise, taskOf, type TeamOptions } from './team.ts'

const longText = (bytes: number): string => 'Look at this. '.repeat(bytes / 14 + 1).slice(0, bytes)

/** A program without a store whose one session has ended; it sends its results in the background. */
async function ended(prompt: string, options: TeamOptions = {}): Promise<Program> {
  const made = await program(options)
  await made.subagents.spawn({ category: 'researcher', prompt, notify: false })
  await made.runner.idle()
  return made
}

/** The same world, saved in one file and restored under another Runner without a store. */
async function restored(made: Program) {
  const again = fromFile(made)
  await made.runner.stop()
  await again.runner.start()
  return { ...again, subagents: again.runner.subagents(made.lead) }
}

/** The prompts that sessions were begun with. */
function prompts(made: Program): string[] {
  return made.asked('worker').map(({ request }) => taskOf(request))
}

describe('a world that is saved in one file, without a store,', () => {
  it.each([301, 5_000, 100_000])('resumes a session with a prompt of %s bytes with all of it', async (bytes) => {
    const prompt = longText(bytes)
    const made = await ended(prompt, { worker: () => fail('refused') })
    const again = await restored(made)
    await again.subagents.resume(1)
    await again.runner.idle()
    expect(prompts(made)).toEqual([prompt, prompt])
  })

  it.each([600, 601, 8_192, 8_193, 100_000])('has a result of %s bytes for programs', async (bytes) => {
    const made = await ended('Look', { worker: () => longText(bytes) })
    const again = await restored(made)
    await expect(again.subagents.collect(1)).resolves.toBe(longText(bytes))
  })

  it.each([100, 10_000])('has a result of %s bytes for the model, in parts, and its summary', async (bytes) => {
    const result = longText(bytes)
    const summary = longText(2_000)
    const envelope = `<subagent_background_result><summary>${summary}</summary><full_result>${result}</full_result></subagent_background_result>`
    const read = (id: string, more: object) => call(id, 'subagent_result', { session_id: '1', ...more })
    const made = await ended('Look', {
      worker: () => envelope,
      lead: stepwise(
        calls(read('s', { read_method: 'summary' }), read('a', { offset: 0 }), read('b', { offset: 8_192 })),
      ),
    })
    const again = await restored(made)
    await again.runner.message(made.lead, 'Read it')
    await again.runner.idle()
    const answers = ['s', 'a', 'b'].map((id) => answerIn(again.world.read(made.lead, Conversation), id))
    expect(answers.map((answer) => answer['status'])).toEqual(['success', 'success', 'success'])
    expect(answers[0]?.['inline_content']).toBe(summary.trim())
    expect(
      answers
        .slice(1)
        .map((answer) => answer['inline_content'])
        .join(''),
    ).toBe(result.trim())
  })

  describe('and may keep texts of 1000 bytes', () => {
    const runner: RunnerOptions = { maxRecordBytes: 1_000 }
    const limit = 'a world without a store keeps results of up to 1000 bytes (maxRecordBytes)'

    it('keeps those, and not one byte more', async () => {
      const made = await ended('Look', { runner, worker: () => longText(1_000) })
      await expect((await restored(made)).subagents.collect(1)).resolves.toBe(longText(1_000))
      const longer = await ended('Look', { runner, worker: () => longText(1_001) })
      const saved = [...longer.world.snapshot()].join('')
      expect(saved).not.toContain(longText(1_001))
      const error = await rejection((await restored(longer)).subagents.collect(1))
      expect(error).toMatchObject({ code: 'session-failed', message: expect.stringContaining(limit) })
    })

    it('has a longer result until its Runner stops, and says so to the model behind that', async () => {
      const read = calls(call('r', 'subagent_result', { session_id: '1' }))
      const made = await ended('Look', { runner, worker: () => longText(2_000), lead: stepwise(read) })
      await made.runner.message(made.lead, 'Read it')
      await made.runner.idle()
      expect(answerIn(made.world.read(made.lead, Conversation), 'r')['inline_content']).toBe(longText(2_000))
      const later = await ended('Look', { runner, worker: () => longText(2_000), lead: stepwise(read) })
      const again = await restored(later)
      await again.runner.message(made.lead, 'Read it')
      await again.runner.idle()
      expect(answerIn(again.world.read(later.lead, Conversation), 'r')).toMatchObject({
        status: 'error',
        inline_content: null,
        error: `This result of 2000 bytes was not saved: ${limit}.`,
      })
    })

    it('refuses to resume a session with a longer prompt, and says why', async () => {
      const resume = calls(call('r', 'subagent_resume', { session_id: '1' }))
      const made = await ended(longText(1_001), { runner, worker: () => fail('refused'), lead: stepwise(resume) })
      const again = await restored(made)
      const why = 'its prompt has 1001 bytes, and a world without a store keeps 1000 of it (maxRecordBytes)'
      const error = await rejection(again.subagents.resume(1))
      expect(error).toMatchObject({ code: 'limit-reached', message: expect.stringContaining(why) })
      await again.runner.message(made.lead, 'Resume it')
      await again.runner.idle()
      expect(String(answerIn(again.world.read(made.lead, Conversation), 'r')['error'])).toContain(why)
      expect(made.asked('worker')).toHaveLength(1)
    })
  })

  it('keeps nothing that a folder keeps', async () => {
    const made = await ended('Look', { worker: () => longText(2_000), runner: { artifacts: await tempFolder() } })
    expect([...made.world.snapshot()].join('')).not.toContain(longText(2_000))
    await expect((await restored(made)).subagents.collect(1)).resolves.toBe(longText(2_000))
  })

  it('does not begin a session with the beginning of its prompt alone, where a folder has lost the rest', async () => {
    const made = await ended(longText(2_000), {
      worker: () => fail('refused'),
      runner: { artifacts: await tempFolder() },
    })
    const options = { ...made.options, artifacts: await tempFolder() }
    const again = await restored({ ...made, options })
    await again.subagents.resume(1)
    await expect(again.subagents.collect(2)).rejects.toThrow('Only the beginning of the prompt is left')
    expect(made.asked('worker')).toHaveLength(1)
  })
})

it.each([0, 1.5, -1, Number.NaN])('maxRecordBytes is no %s', async (maxRecordBytes) => {
  await expect(program({ runner: { maxRecordBytes } })).rejects.toMatchObject({ code: 'invalid-argument' })
})
