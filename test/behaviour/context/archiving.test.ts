import {
  assistant,
  EntiaError,
  fail,
  textOf,
  memoryStore,
  recordingOf,
  replay,
  type ScriptedBehaviour,
  standardSystems,
  user,
} from 'entia'
import { Archival, Archive, ArchiveJob, Context, Ledger, ToolRegistry } from 'entia/components'
import { configured, readConfig } from 'entia/context'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../transcript.ts'
import { archiving, archiveOf, callsInTurn, lastUser, looking, settings, validSummary } from './archiving.ts'
import { gate, reopened } from '../turns/driving.ts'
import { stores } from '../sessions/kinds-of-stores.ts'

describe('a configuration', () => {
  it('without a word of archival has every default, and archives nothing', () => {
    const { archival, subagents } = readConfig(undefined)
    expect(subagents.enabled).toBe(false)
    expect(archival).toEqual({
      enabled: false,
      maxListed: 50,
      placement: 'tail',
      summary: { maxOutputTokens: 1_024, model: null, style: 'structured', timeoutSeconds: 60 },
      trigger: { depthCap: 3, onMaxTurns: true, tokenThreshold: 8_000, toolCallThreshold: 5 },
    })
    expect(configured(readConfig({})).map(({ token }) => token.name)).not.toContain('Archival')
  })

  it.each([[{ archival: { enabled: true } }], [{ archival: { enabled: true }, subagents: { enabled: false } }]])(
    'that archives without subagents is refused: %j',
    (config) => {
      const message =
        'archival.enabled requires subagents.enabled. Set subagents.enabled: true or archival.enabled: false.'
      expect(() => readConfig(config)).toThrow(EntiaError)
      expect(() => readConfig(config)).toThrow(expect.objectContaining({ code: 'config-invalid', message }))
    },
  )
})

describe('an agent that is not archived', () => {
  it('runs, byte for byte, as one in a world without these systems', async () => {
    const apart = new Set(['archival', 'archive-jobs', 'transcripts'])
    const made = archiving({ archival: false })
    const other = archiving({ archival: false, systems: (all) => all.filter(({ name }) => !apart.has(name)) })
    for (const { runner, say } of [made, other]) {
      await runner.start()
      await say('first')
      await say('second')
      await runner.stop()
    }
    expect([...made.world.snapshot()]).toEqual([...other.world.snapshot()])
    expect(made.asked('summary')).toEqual([])
    expect(made.world.read(made.agent, ToolRegistry).tools.map(({ name }) => name)).toEqual(['look'])
  })
})

describe('a heavy turn', () => {
  it('becomes its opening message and one text that names the holder', async () => {
    const made = archiving()
    await made.runner.start()
    await made.say('first')
    const { sessionId } = made.holders()[0] ?? { sessionId: '' }
    expect(sessionId).toMatch(/^session-[0-9a-f]{16}$/)
    expect(made.messages()).toEqual([
      user('first'),
      assistant(`[archived turn]\nsubagent_id: ${sessionId}\n\n${validSummary}`),
    ])
    expect(made.archive()).toMatchObject([
      { fromSeq: 1, reason: 'tool_calls', status: 'archived', summary: 'ok', task: 'Archive: first', toSeq: 12 },
    ])
    expect(made.holders()).toMatchObject([{ kind: 'holder', prompt: 'Archive: first', status: 'succeeded' }])
    expect(made.holders()[0]).not.toHaveProperty('artifactId')
    expect(made.told('turn-archived')).toHaveLength(1)
    expect(made.told('session-ended')).toEqual([])
    expect(made.world.query(ArchiveJob)).toEqual([])
  })

  it('that is not heavy stays, and so does one at the step limit where that is no reason', async () => {
    const made = archiving({ work: looking(4) })
    await made.runner.start()
    await made.say('first')
    expect(made.messages()).toHaveLength(10)
    expect(made.told('archive-skipped')).toEqual([])
  })

  it('that hit its step limit with one call is archived, steering included', async () => {
    const made = archiving({ work: looking(9), agent: { maxSteps: 1 } })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ reason: 'max_turns' }])
    expect(made.texts()[1]).toContain('[archived turn]')
  })

  it('is told of if it stays for another reason than its weight', async () => {
    const made = archiving({ archival: { trigger: { depthCap: 0 } } })
    await made.runner.start()
    await made.say('first')
    expect(made.told('archive-skipped')).toMatchObject([{ agent: made.agent, reason: 'depth_cap' }])
    expect(made.messages()).toHaveLength(12)
  })

  it('stays whole while its summary is written; a step meanwhile sees it so, a later one its summary', async () => {
    const summary = gate()
    const made = archiving({ summary: () => summary.promise.then(() => validSummary) })
    const { runner, next } = made
    await runner.start()
    const ended = next('turn-ended')
    await runner.message(made.agent, 'first')
    await ended
    const replied = next('turn-ended')
    await runner.message(made.agent, 'second')
    await replied
    const during = made.asked('work').at(-1)?.request.messages
    expect(made.archive()).toEqual([])
    summary.resolve()
    expect([...(during ?? [])].filter(({ role }) => role === 'tool').length).toBeGreaterThan(5)
    await runner.idle()
    expect(made.archive()).toHaveLength(2)
    await made.say('third')
    const later = made.asked('work').at(-1)?.request.messages.slice(0, 5) ?? []
    expect(later.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
    expect(transcript(made.world, made.agent)[0]).toBe('user: first')
  })

  it('may wait with others, and breaks the prefix once for all that collapsed since the last call', async () => {
    const made = archiving({ summary: (_, { sleep }) => sleep(5_000).then(() => validSummary) })
    const { runner, next } = made
    await runner.start()
    for (const text of ['first', 'second', 'third']) {
      const ended = next('turn-ended')
      await runner.message(made.agent, text)
      await ended
    }
    expect(made.told('prefix-broken')).toEqual([])
    await runner.idle()
    expect(made.archive()).toHaveLength(3)
    await made.say('fourth')
    expect(made.told('prefix-broken')).toMatchObject([{ component: 'Conversation' }])
    expect(made.texts().filter((text) => text.startsWith('[archived turn]'))).toHaveLength(4)
  })

  it('that collapses in the midst of a call lets the reply stand where it belongs', async () => {
    const made = await summarizedDuring((request) =>
      callsInTurn(request) === 0 ? { toolCalls: [{ id: 'late', name: 'look' }] } : 'Late.',
    )
    await made.say('second')
    expect(made.messages().map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'tool',
      'assistant',
    ])
    expect(made.texts().at(-1)).toBe('Late.')
    expect(made.archive()).toMatchObject([{ fromSeq: 1, toSeq: 12 }])
  })

  it('that collapses in the midst of a later turn’s last step has the model asked nothing more', async () => {
    const made = await summarizedDuring(() => 'Plain.')
    const before = made.asked('work').length
    await made.say('second')
    expect(made.asked('work')).toHaveLength(before + 1)
    expect(made.texts().slice(2)).toEqual(['second', 'Plain.'])
    expect(made.told('turn-ended').at(-1)).toMatchObject({ stop: 'done', steps: 1 })
  })

  it('goes to its agent’s ledger with what its summary cost', async () => {
    const made = archiving({ model: { usage: { input: 10, output: 1 } }, parts: configured(readConfig({})) })
    await made.runner.start()
    await made.say('first')
    expect(made.world.read(made.agent, Ledger).models['scripted/x']).toMatchObject({ calls: 7, input: 70 })
    expect(made.world.has(made.agent, Context)).toBe(true)
  })

  it('whose agent is despawned goes nowhere, and what was made of its holder is removed', async () => {
    const [, open] = stores[0] ?? []
    const store = await open?.()
    if (store === undefined) throw new Error('there is no store')
    const asked = gate()
    const made = archiving({
      summary: async (_, { signal }) => {
        asked.resolve()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return ''
      },
      runner: { store },
    })
    const { runner } = made
    await runner.start()
    await runner.message(made.agent, 'first')
    await asked.promise
    const [job = 0] = made.world.query(ArchiveJob)
    const { subagentId, step } = made.world.read(job, ArchiveJob)
    expect(step).toBe('summary')
    await runner.change((world) => world.despawn(made.agent))
    await runner.idle()
    expect((await store.list()).map(({ name }) => name)).toEqual(['world'])
    const key = `agents/subagent-${subagentId}/sessions/${subagentId}.jsonl`
    expect(await store.transcript('world', key)).toBeUndefined()
  })
})

describe('a summary', () => {
  it('may come in a code fence, with a key too many: what stays are the five keys, compact and in order', async () => {
    const { outcome, ...rest } = JSON.parse(validSummary) as Record<string, unknown>
    const fenced = `\`\`\`json\n${JSON.stringify({ ...rest, more: [], outcome }, null, 2)}\n\`\`\``
    const made = archiving({ summary: () => fenced })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ summary: 'ok' }])
    expect(made.texts()[1]?.endsWith(`\n\n${validSummary}`)).toBe(true)
    expect(made.asked('summary')).toHaveLength(1)
  })

  it('that follows no form is asked for once more', async () => {
    const made = archiving({ summary: ({ messages }) => (messages.length === 1 ? 'So.' : validSummary) })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ summary: 'repaired' }])
    const calls = made.asked('summary')
    expect(calls).toHaveLength(2)
    expect(calls[1]?.request.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(made.texts()[1]).toContain(validSummary)
  })

  it('that follows none twice is the second reply, as it is', async () => {
    const made = archiving({ summary: ({ messages }) => (messages.length === 1 ? 'One.' : ' Two. \n') })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ summary: 'unparsed' }])
    expect(made.texts()[1]).toMatch(/\n\n\[unparsed\] Two\.$/)
    expect(made.asked('summary')).toHaveLength(2)
  })

  it('whose repair fails is the first reply, as it is', async () => {
    const made = archiving({ summary: ({ messages }) => (messages.length === 1 ? 'One.' : fail('refused')) })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ summary: 'unparsed' }])
    expect(made.texts()[1]).toMatch(/\n\n\[unparsed\] One\.$/)
  })

  it.each([
    ['fails', () => fail('refused')],
    ['is empty twice', () => ''],
    [
      'does not come in time',
      (_: unknown, { sleep }: { sleep: (ms: number) => Promise<void> }) => sleep(61_000).then(() => validSummary),
    ],
  ] as const)('that %s is not there, and the turn is archived all the same', async (_, summary) => {
    const made = archiving({ summary })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ status: 'archived', summary: 'unavailable' }])
    expect(made.texts()[1]).toMatch(/\n\n\[summary unavailable\]$/)
    expect(made.world.nowMs).toBeLessThanOrEqual(60_000)
  })

  it('has its time for the call, its retries and its repair together', async () => {
    const made = archiving({
      summary: async ({ messages }, { sleep }) => {
        await sleep(40_000)
        return messages.length === 1 ? 'One.' : validSummary
      },
    })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ atMs: 60_000, summary: 'unparsed' }])
  })

  it('that was stopped at its output limit says so', async () => {
    const made = archiving({ summary: () => ({ text: validSummary, stop: 'max-tokens' }) })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ summary: 'ok', truncated: true }])
  })

  it('that is far longer than it may be is asked for once more, and then cut', async () => {
    const long = JSON.stringify({ ...(JSON.parse(validSummary) as object), outcome: 'x'.repeat(100_000) })
    const made = archiving({ summary: () => long })
    await made.runner.start()
    await made.say('first '.repeat(2_000))
    expect(made.archive()).toMatchObject([{ summary: 'unparsed', truncated: true }])
    expect(made.texts()[1]).toMatch(/\n\n\[unparsed\] \{"outcome":"x+\n\[summary truncated\]$/)
    expect(made.texts()[1]?.length).toBeLessThan(8_400)
    const repair = [...(made.asked('summary')[1]?.request.messages ?? [])].at(-1)
    expect(JSON.stringify(repair)).toContain('it is longer than 8192 characters.')
  })

  it('that is a paragraph far longer than it may be is cut', async () => {
    const made = archiving({ archival: { summary: { style: 'paragraph' } }, summary: () => 'It was. '.repeat(50_000) })
    await made.runner.start()
    await made.say('first '.repeat(2_000))
    expect(made.archive()).toMatchObject([{ summary: 'ok', truncated: true }])
    expect(made.texts()[1]?.length).toBeLessThan(8_400)
    expect(made.asked('summary')).toHaveLength(1)
  })

  it('is no longer than the turn that it stands for', async () => {
    const made = archiving({ archival: { summary: { style: 'paragraph' } }, summary: () => 'It was. '.repeat(500) })
    await made.runner.start()
    await made.say('first')
    const [summed] = made.asked('summary')
    const turn = textOf([...(summed?.request.messages ?? [])].at(-1))
    expect(made.archive()).toMatchObject([{ summary: 'ok', truncated: true }])
    const stays = made.texts()[1]?.split('\n\n').slice(1).join('\n\n') ?? ''
    expect(stays.endsWith('[summary truncated]')).toBe(true)
    expect(stays.length).toBeLessThanOrEqual(turn.length)
  })

  it('of a turn that is longer than the window of its model is asked for with less of the middle', async () => {
    const lengths: number[] = []
    const made = archiving({
      summary: ({ messages }) => {
        lengths.push(textOf([...messages].at(-1)).length)
        return lengths.length < 3 ? fail('context-overflow') : validSummary
      },
    })
    await made.runner.start()
    await made.say('first '.repeat(2_000))
    expect(made.archive()).toMatchObject([{ status: 'archived', summary: 'ok' }])
    expect(made.texts()[1]).toContain(validSummary)
    const [whole = 0, half = 0, quarter = 0] = lengths
    expect([half / whole, quarter / whole]).toEqual([expect.closeTo(0.5, 1), expect.closeTo(0.25, 1)])
    expect(made.told('warning').map(({ message }) => message)).toEqual([
      expect.stringContaining("longer than the model's window"),
      expect.stringContaining("longer than the model's window"),
    ])
  })

  it('that calls a tool, and says nothing, is not there; one that says something besides is', async () => {
    const toolCalls = [{ name: 'look' }]
    const made = archiving({
      summary: ({ messages }) => (messages.length === 1 ? { toolCalls } : { text: validSummary, toolCalls }),
    })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ summary: 'repaired' }])
    expect(made.texts()[1]).toContain(validSummary)
  })

  it('of Ollama is a paragraph, with a warning and the configuration as it was', async () => {
    const made = archiving({
      archival: { summary: { model: 'ollama/x' } },
      isOllama: true,
      summary: () => 'It was done.',
    })
    await made.runner.start()
    await made.say('first')
    const message = 'archival: ollama does not return JSON reliably; this summary is written as a paragraph.'
    expect(made.told('warning')).toMatchObject([{ agent: made.agent, message }])
    expect(made.asked('summary')[0]?.request.system).toContain('three to five sentences')
    expect(made.archive()).toMatchObject([{ summary: 'ok' }])
    expect(made.texts()[1]).toMatch(/\n\nIt was done\.$/)
    expect(made.world.read(made.agent, Archival).summary.style).toBe('structured')
  })

  it('is asked of the turn alone, without tools: long results cut, thinking left out', async () => {
    const made = archiving({
      work: (request, context) =>
        callsInTurn(request) === 5 ? { thinking: 'Secret.', text: 'Done.' } : looking(5)(request, context),
    })
    await made.runner.start()
    await made.say('first')
    const [call] = made.asked('summary')
    expect(call?.request).toMatchObject({ tools: [], options: { maxOutputTokens: 1_024 } })
    const text = JSON.stringify(call?.request.messages.at(0))
    expect(text).toContain(
      'Summarize the following completed agent turn:\\n\\n## user\\nfirst\\n\\n## assistant\\n[tool_use: look(',
    )
    expect(text).toContain('[tool_result: Seen: place 4]')
    expect(text).not.toContain('Secret')
  })
})

describe('archival that is switched off', () => {
  it('leaves later turns whole, and what was archived can still be asked', async () => {
    const asking = (id: string) => ({
      toolCalls: [{ id: 'q', name: 'query_subagent', arguments: { id, prompt: 'What?' } }],
    })
    const made = archiving({
      work: (request, context) => {
        const [, id = ''] = /^ask (\S+)$/.exec(lastUser(request)) ?? []
        if (id === '') return looking(5)(request, context)
        return callsInTurn(request) === 0 ? asking(id) : 'Asked.'
      },
    })
    const { runner, say } = made
    await runner.start()
    await say('first')
    await say('second')
    await runner.change((world) => world.patch(made.agent, Archival, { enabled: false }))
    await say('third')
    expect(made.archive()).toHaveLength(2)
    expect(made.messages()).toHaveLength(4 + 12)
    for (const { sessionId } of made.holders()) {
      await say(`ask ${sessionId}`)
      expect(transcript(made.world, made.agent).at(-2)).toContain('Held: What?')
    }
  })
})

describe('a world with archived turns', () => {
  it.each(stores)('in %s comes back as it was, and its dormant holders answer', async (_, open) => {
    const store = await open()
    const made = archiving({ runner: { store } })
    await made.runner.start()
    await made.say('first')
    await made.runner.stop()
    const hash = made.world.hash()
    const again = await reopened(store, made.options)
    expect(again.world.hash()).toBe(hash)
    await again.runner.start()
    const { sessionId } = made.holders()[0] ?? { sessionId: '' }
    await expect(again.runner.subagents(made.agent).query(sessionId, 'What?')).resolves.toBe('Held: What?')
    expect(archiveOf(again.world, made.agent)).toHaveLength(1)
    await again.runner.stop()
    expect(made.world.read(made.agent, Archive)).toHaveLength(1)
    expect(settings().token.name).toBe('Archival')
  })
})

describe('a recorded world with archived turns', () => {
  it('is made again from its inputs: no model is asked, and nothing is written', async () => {
    const store = memoryStore()
    const made = archiving({ runner: { store, record: true }, model: { latencyMs: [10, 90] } })
    await made.runner.start()
    await made.say('first')
    await made.runner.subagents(made.agent).query(1, 'What?')
    await made.say('second')
    await made.runner.stop()
    const again = replay(await recordingOf(store, 'world'), { systems: standardSystems(), components })
    expect(again.difference).toBeUndefined()
    expect(again.hash).toBe(made.world.hash())
    const id = made.holders()[0]?.sessionId ?? ''
    const holder = replay(await recordingOf(store, id), { systems: standardSystems(), components })
    expect(holder.difference).toBeUndefined()
  })
})

/**
 * An agent whose heavy turn has ended and is being summarized. The summary takes half as long as each of the agent's next
 * calls, which are answered so.
 */
async function summarizedDuring(second: ScriptedBehaviour) {
  const made = archiving({
    work: async (request, context) => {
      if (lastUser(request) !== 'second') return looking(5)(request, context)
      await context.sleep(10_000)
      return second(request, context)
    },
    summary: (_, { sleep }) => sleep(5_000).then(() => validSummary),
  })
  await made.runner.start()
  const ended = made.next('turn-ended')
  await made.runner.message(made.agent, 'first')
  await ended
  return made
}
