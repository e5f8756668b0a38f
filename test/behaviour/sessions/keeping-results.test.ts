import {
  agent,
  memoryStore,
  Runner,
  scripted,
  type ScriptedReply,
  SessionPool,
  sqliteStore,
  SubagentRegistry,
  textOf,
  VirtualClock,
} from 'entia'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { emptyWorld } from '../turns/driving.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { answered } from './pace.ts'
import { type Behaviour, call, calls, delegate, stepwise, taskOf, team, type TeamOptions } from './team.ts'

const folder = 'scratchbook/records/subagent'

/** Reads the first session's result. */
function read(id: string, more: Readonly<Record<string, string | number>> = {}): ScriptedReply {
  return calls(call(id, 'subagent_result', { session_id: '1', ...more }))
}

/** A team whose worker says this in the background, and whose lead then goes on as told. */
function told(text: string, runner: TeamOptions['runner'] = {}, ...replies: readonly (ScriptedReply | Behaviour)[]) {
  return team({ runner, worker: () => text, lead: stepwise(calls(delegate('a', { background: true })), ...replies) })
}

function enveloped(summary: string, result: string): string {
  return `<subagent_background_result><summary>${summary}</summary><full_result>${result}</full_result></subagent_background_result>`
}

describe('the record of a result', () => {
  it('is the full result without its envelope, under an id that says what it is of', async () => {
    const artifacts = await tempFolder()
    const made = told(enveloped('In short.', ' All of it. '), { artifacts }, read('r'))
    await made.run()
    const { artifact_id: artifactId, record_path: recordPath } = answered(made, 'r')
    expect(artifactId).toMatch(/^subagent_[0-9a-f]{24}$/)
    expect(recordPath).toBe(`${folder}/${String(artifactId)}`)
    expect(await readFile(join(artifacts, String(recordPath)), 'utf8')).toBe('All of it.')
    expect(await readdir(join(artifacts, folder))).toEqual([artifactId])
  })

  it('lies in the store where the Host has no folder', async () => {
    const store = memoryStore()
    const made = told('All of it.', { store }, read('r'))
    await made.run()
    expect(await store.getText('world', String(answered(made, 'r')['record_path']))).toBe('All of it.')
  })

  it('is there before the session has succeeded', async () => {
    const store = memoryStore()
    const made = told('All of it.', { store })
    const seen: Promise<string | undefined>[] = []
    made.runner.on('delegation-completed', ({ artifactId }) =>
      seen.push(store.getText('world', `${folder}/${String(artifactId)}`)),
    )
    await made.run()
    expect(await Promise.all(seen)).toEqual(['All of it.'])
  })

  it.each([
    ['8192 bytes', 'x'.repeat(8_192), true],
    ['8193 bytes', 'x'.repeat(8_193), false],
    ['8192 bytes in characters of two', 'é'.repeat(4_096), true],
    ['8194 bytes in characters of two', 'é'.repeat(4_097), false],
  ])('holds all of %s, whether the answer does or not', async (_, text, isInline) => {
    const artifacts = await tempFolder()
    const made = told(text, { artifacts }, read('r'))
    await made.run()
    const { status, inline_content: inline, record_path: recordPath } = answered(made, 'r')
    expect(status).toBe('success')
    expect(inline).toBe(isInline ? text : null)
    expect(await readFile(join(artifacts, String(recordPath)), 'utf8')).toBe(text)
  })

  it('keeps a summary beside it that is too long for the world, and gives it back', async () => {
    const artifacts = await tempFolder()
    const summary = 'In short: é. '.repeat(50).trim()
    const made = told(enveloped(summary, 'All.'), { artifacts }, read('r', { read_method: 'summary' }))
    await made.run()
    expect(Buffer.byteLength(summary)).toBeGreaterThan(300)
    expect(answered(made, 'r')).toMatchObject({ status: 'success', inline_content: summary, error: null })
    expect(JSON.stringify(made.sessions())).not.toContain('In short')
    const { artifactId } = made.sessions()[0] ?? {}
    expect(await readdir(join(artifacts, folder))).toEqual([artifactId, `${artifactId}.summary`])
  })

  it('has no summary of more than 8192 bytes', async () => {
    const made = told(enveloped('x'.repeat(8_193), 'All.'), {}, read('r', { read_method: 'summary' }))
    await made.run()
    expect(answered(made, 'r')).toMatchObject({ status: 'error', inline_content: null })
    expect(made.sessions()).toMatchObject([{ status: 'succeeded', inlineContent: 'All.' }])
  })
})

/** So many bytes of text with characters of one to four bytes, in no order that repeats. */
function mixedText(sizeBytes: number): string {
  const characters = ['a', '\n', '"', 'é', '→', '\u{1F600}']
  const sizes = characters.map((character) => Buffer.byteLength(character))
  const parts: string[] = []
  let seed = 1
  for (let left = sizeBytes; left > 0;) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    const at = (seed >>> 16) % characters.length
    const which = (sizes[at] ?? 1) <= left ? at : 0
    parts.push(characters[which] ?? '')
    left -= sizes[which] ?? 1
  }
  return parts.join('')
}

/** A lead that launches a session and then reads its result page by page, to the end. */
function pager(pages: string[]): Behaviour {
  return ({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'user') return calls(delegate('a', { background: true }))
    const answer = JSON.parse(textOf(last)) as { inline_content?: string; next_offset?: number | null }
    if (answer.inline_content !== undefined) pages.push(answer.inline_content)
    const { next_offset: offset = 0 } = answer
    if (offset === null) return 'Done.'
    return calls(call(`page-${offset}`, 'subagent_result', { session_id: '1', offset }))
  }
}

describe('a result of 10 MB', () => {
  const text = mixedText(10_000_000)

  it('is kept whole, and read back page by page it is the same, byte for byte', { timeout: 60_000 }, async () => {
    const artifacts = await tempFolder()
    const pages: string[] = []
    const limits = { maxSteps: 10_000, maxToolCalls: 10_000 }
    const made = team({ runner: { artifacts }, agent: limits, worker: () => text, lead: pager(pages) })
    await made.run()
    const [record] = made.sessions()
    expect(record).toMatchObject({ status: 'succeeded', resultBytes: 10_000_000 })
    const kept = await readFile(join(artifacts, String(record?.recordPath)))
    expect(kept.equals(Buffer.from(text))).toBe(true)
    expect(pages.join('') === text).toBe(true)
    const sizes = pages.map((page) => Buffer.byteLength(page))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(8_192)
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(8_192 - 4)
  })

  it('is not in an answer without an offset, and of the world only a beginning', async () => {
    const artifacts = await tempFolder()
    const made = told(text, { artifacts }, read('r'))
    await made.run()
    expect(answered(made, 'r')).toMatchObject({ status: 'success', inline_content: null, error: null })
    expect(made.sessions()).toMatchObject([{ resultExcerpt: text.slice(0, 200) }])
    expect([...made.world.snapshot()].join('').length).toBeLessThan(20_000)
  })

  it('of a synchronous session is cut for the call, with a note, and kept whole', async () => {
    const artifacts = await tempFolder()
    const made = team({ runner: { artifacts }, worker: () => text, lead: stepwise(calls(delegate('a'))) })
    await made.run()
    const shown = text.slice(0, made.results()['a']?.lastIndexOf('\n['))
    expect(shown.length).toBeGreaterThan(49_990)
    expect(shown.length).toBeLessThanOrEqual(50_000)
    expect(made.results()['a']).toBe(`${shown}\n[${text.length - shown.length} characters left out]`)
    const kept = await readFile(join(artifacts, String(made.sessions()[0]?.recordPath)))
    expect(kept.equals(Buffer.from(text))).toBe(true)
  })
})

describe('results that are long', () => {
  it('leave nothing of themselves in memory but what the world holds', { timeout: 60_000 }, async () => {
    const world = emptyWorld()
    const lead = world.spawn(
      ...agent({ model: 'worker/x', messages: [] }),
      SubagentRegistry({ subagents: { researcher: { name: 'researcher' } } }),
    )
    const text = Buffer.from(mixedText(1_000_000))
    // Not a team, which remembers all that was asked and told. Each gets a text of its own.
    const runner = new Runner(world, {
      artifacts: await tempFolder(),
      clock: new VirtualClock(),
      models: { worker: scripted((request) => `${taskOf(request)} ${text.toString()}`) },
      sessionPool: new SessionPool(),
      store: sqliteStore({ folder: await tempFolder() }),
    })
    onTestFinished(() => runner.stop())
    await runner.start()
    const delegateTo = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index++) {
        await runner.subagents(lead).spawn({ category: 'researcher', prompt: `${index}`, notify: false })
        await runner.idle()
      }
    }
    await delegateTo(3)
    const before = heapBytes()
    await delegateTo(10)
    expect(heapBytes() - before).toBeLessThan(4_000_000)
  })
})

/** Bytes in use, garbage collected. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}

describe('a result that cannot be kept', () => {
  it('fails its session, which is told of as of any other failure', async () => {
    const file = join(await tempFolder({ file: '' }), 'file')
    const made = told('All of it.', { artifacts: join(file, 'artifacts') }, read('r'))
    await made.run()
    const [record] = made.sessions()
    expect(record?.status).toBe('failed')
    expect(record?.error).toMatch(/^Result could not be stored: .*ENOTDIR/)
    expect(record).not.toHaveProperty('artifactId')
    expect(record).not.toHaveProperty('recordPath')
    expect(answered(made, 'r')).toMatchObject({
      status: 'error',
      lifecycle_status: 'failed',
      artifact_id: null,
      record_path: null,
      inline_content: null,
      error: record?.error,
    })
    expect(made.told('delegation-completed')).toMatchObject([
      { success: false, error: record?.error, artifactId: null },
    ])
  })

  it('answers a call that waits for it with that', async () => {
    const file = join(await tempFolder({ file: '' }), 'file')
    const made = team({ runner: { artifacts: file }, lead: stepwise(calls(delegate('a'))) })
    await made.run()
    expect(made.results()['a']).toMatch(/^Error: Subagent 'researcher' failed: Result could not be stored: /)
  })

  it.each([
    ['a text', 'All of it.', 'All of it.'],
    ['an envelope', enveloped('In short.', 'All of it.'), 'All of it.'],
  ])('is kept when the session is resumed, %s, and costs no model call with a store', async (_, text, result) => {
    const parent = await tempFolder({ artifacts: 'A file stands where the folder is to be.' })
    const artifacts = join(parent, 'artifacts')
    const made = told(text, { artifacts, store: memoryStore() })
    await made.run()
    expect(made.sessions()).toMatchObject([{ status: 'failed' }])
    expect(made.asked('worker')).toHaveLength(1)
    await rm(artifacts)
    const sessions = made.runner.subagents(made.lead)
    const resumed = await sessions.resume(1)
    expect(resumed.continued).toBe(true)
    expect(await sessions.collect(resumed.sessionId)).toBe(result)
    await made.runner.idle()
    const [, second] = made.sessions()
    expect(second).toMatchObject({ status: 'succeeded', resumedFrom: made.sessions()[0]?.sessionId })
    expect(await readFile(join(artifacts, String(second?.recordPath)), 'utf8')).toBe(result)
    expect(made.asked('worker')).toHaveLength(1)
  })

  it('is made again when the session is resumed without a store', async () => {
    const parent = await tempFolder({ artifacts: 'A file stands where the folder is to be.' })
    const artifacts = join(parent, 'artifacts')
    const made = told('All of it.', { artifacts })
    await made.run()
    await rm(artifacts)
    const sessions = made.runner.subagents(made.lead)
    const resumed = await sessions.resume(1)
    expect(resumed.continued).toBe(false)
    expect(await sessions.collect(resumed.sessionId)).toBe('All of it.')
    expect(made.asked('worker')).toHaveLength(2)
  })
})
