import { assistant, memoryStore, type Message, Runner, user, VirtualClock } from 'entia'
import { AgentTranscript } from 'entia/components'
import { describe, expect, it, onTestFinished } from 'vitest'
import { inTurns } from '../../../src/rules/projection/places.ts'
import { archiving, callsInTurn, lastUser, looking } from './archiving.ts'
import { reopened } from '../turns/driving.ts'

interface Line {
  readonly type: string
  readonly seq?: number
  readonly turn?: number
  readonly step?: number
}

const store = memoryStore
type Store = ReturnType<typeof store>

async function linesOf(kept: Store, key: string): Promise<Line[]> {
  return (await kept.transcript('world', key))?.map((line) => JSON.parse(line) as Line) ?? []
}

/** Turn and step of each message. */
const placesIn = (lines: readonly Line[]): string[] =>
  lines.filter(({ type }) => type === 'message').map(({ turn, step }) => `${turn}.${step}`)

const own = 'agents/agent-1/sessions/world.jsonl'
const holder = (id = ''): string => `agents/subagent-${id}/sessions/${id}.jsonl`
/** A turn of two calls. */
const turn = (number: number): string[] => [0, 1, 1, 2, 2, 3].map((step) => `${number}.${step}`)

describe('a line of a transcript', () => {
  it('says which turn its message is of, and how many steps that had by then', async () => {
    const kept = store()
    const made = archiving({
      archival: { trigger: { toolCallThreshold: 2 } },
      work: (request, context) => (lastUser(request) === 'short' ? 'In a word.' : looking(2)(request, context)),
      runner: { store: kept },
    })
    await made.runner.start()
    for (const text of ['first', 'short', 'second']) await made.say(text)
    expect(placesIn(await linesOf(kept, own))).toEqual([...turn(1), '2.0', '2.1', ...turn(3)])
    expect(placesIn(await linesOf(kept, holder(made.holders()[1]?.sessionId)))).toEqual(turn(1))
    await made.runner.subagents(made.agent).query(2, 'What?')
    expect(placesIn(await linesOf(kept, holder(made.holders()[1]?.sessionId))).slice(-2)).toEqual(['2.0', '2.1'])
    await made.runner.stop()

    const later = await reopened(kept, made.options)
    await later.runner.start()
    await later.runner.message(made.agent, 'third')
    await later.runner.idle()
    expect(placesIn(await linesOf(kept, own)).slice(-6)).toEqual(turn(4))
  })

  it('counts on where a world says nothing of its last turn', async () => {
    const kept = store()
    const made = archiving({
      archival: { trigger: { toolCallThreshold: 2 } },
      work: looking(2),
      runner: { store: kept },
    })
    await made.runner.start()
    await made.say('first')
    await made.runner.change((world) => {
      const { lines, seq } = world.read(made.agent, AgentTranscript)
      world.set(made.agent, AgentTranscript, { lines, seq })
    })
    await made.say('second')
    expect(placesIn(await linesOf(kept, own)).slice(-6)).toEqual(turn(2))
  })

  it('counts what is said in the midst of a turn to that turn', async () => {
    const kept = store()
    const made = archiving({
      archival: { trigger: { toolCallThreshold: 2 } },
      work: async (request, context) => {
        if (callsInTurn(request) === 1) await made.runner.message(made.agent, 'and this')
        return looking(2)(request, context)
      },
      runner: { store: kept },
    })
    await made.runner.start()
    await made.say('first')
    const places = placesIn(await linesOf(kept, own))
    expect(new Set(places.map((place) => place.split('.')[0]))).toEqual(new Set(['1']))
  })

  it('is the first one in a place that has none yet, whatever was written elsewhere', async () => {
    const made = archiving()
    await made.runner.start()
    await made.say('first')
    await made.runner.stop()
    const kept = store()
    const runner = new Runner(made.world, { ...made.options, store: kept, clock: new VirtualClock() })
    onTestFinished(() => runner.stop())
    await runner.start()
    await runner.message(made.agent, 'second')
    await runner.idle()
    expect((await linesOf(kept, own)).map(({ type, seq }) => seq ?? type)).toEqual([
      'session',
      ...Array.from({ length: 12 }, (_, index) => index + 13),
      'rewrite',
    ])
  })
})

describe('places of messages', () => {
  const said = (...messages: readonly Message[]) => inTurns(messages).map(({ turn: at, step }) => `${at}.${step}`)
  const answer: Message = { ...assistant('Yes.'), model: 'scripted/x' }

  it('begin with the first turn, whoever speaks first', () => {
    expect(said(answer, user('Go'), answer)).toEqual(['1.1', '2.0', '2.1'])
    expect(said(user('Go'), user('Now'), answer)).toEqual(['1.0', '1.0', '1.1'])
  })

  it('count no step for what the model has not written', () => {
    expect(said(user('Go'), assistant('[turn cancelled]'), user('Again'), answer)).toEqual(['1.0', '1.0', '2.0', '2.1'])
  })
})
