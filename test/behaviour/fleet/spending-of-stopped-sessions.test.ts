import { describe, expect, it } from 'vitest'
import { letterLine } from '../../../src/protocol/letter.ts'
import {
  allKnown,
  breaks,
  callNanoUsd,
  cancelsFirst,
  expectCounted,
  handsDown,
  inOneProcess,
  inThreeProcesses,
  looks,
  message,
  type Office,
  type OfficeOptions,
  sessionsIn,
  totals,
} from './office.ts'

const cancel = { kind: 'cancel', agent: 1 } as const

/** A call that is not answered. */
function thinking() {
  const begun = Promise.withResolvers<void>()
  const think = (): undefined => {
    begun.resolve()
  }
  return { think, thinks: begun.promise }
}

/** Three levels below the desk: the lowest looks, and then thinks for ever. @returns options, and when that has begun */
function ladder(more: Partial<OfficeOptions> = {}) {
  const { think, thinks } = thinking()
  const says: OfficeOptions['says'] = ({ spoken, task }) => {
    const level = Number(task)
    if (level > 0) return spoken === 0 ? handsDown(`${level - 1}`) : `done ${level}`
    return spoken === 0 ? looks : think()
  }
  return { options: { says, ...more }, thinks }
}

const places = [
  ['in one process', inOneProcess],
  ['in three processes', inThreeProcesses],
] as const

/** Of sessions at three levels, of which each has had one reply, and the lowest was cut in its second call. */
const spentByLadder = {
  spent: { costNanoUsd: 3 * callNanoUsd, sessions: 2, tokens: 330, unknownCosts: 1 },
  reserved: [0, 0, 0],
  sessions: [
    {
      status: 'cancelled',
      used: {
        calls: 1,
        costNanoUsd: 3 * callNanoUsd,
        costUnknown: 1,
        delegatedTokens: 220,
        input: 100,
        output: 10,
        sessions: 2,
      },
    },
  ],
}

describe.for(places)('what sessions spend below one that is stopped, %s', ([, open]) => {
  it('is counted at all levels above once their parent has cancelled it', async () => {
    const { options, thinks } = ladder()
    const office: Office = await open(options)
    await office.post(message('3'))
    await thinks
    await office.post(cancel)
    await allKnown(office)
    await expectCounted(office)
    expect(await totals(office)).toEqual(spentByLadder)
  })

  it('is counted where what launched it is taken back', async () => {
    const { options, thinks } = ladder()
    const office: Office = await open(options)
    await office.post(message('3'))
    await thinks
    await office.post({ kind: 'rewind', agent: 1, messages: 1 })
    await allKnown(office)
    await expectCounted(office)
    expect(await totals(office)).toEqual(spentByLadder)
  })

  it('is counted where its time is over', async () => {
    const { options } = ladder()
    const says: OfficeOptions['says'] = (asked) =>
      asked.task === '3' && asked.spoken === 0 ? handsDown('2', { timeout: 0.3 }) : options.says(asked)
    const office: Office = await open({ says })
    await office.post(message('3'))
    await allKnown(office)
    await expectCounted(office)
    expect((await totals(office)).sessions).toMatchObject([{ status: 'timed_out' }])
    expect((await totals(office)).reserved).toEqual([0, 0, 0])
  })

  it('is counted where its budget is over', async () => {
    const { think, thinks } = thinking()
    const says: OfficeOptions['says'] = async ({ spoken, task }) => {
      if (task === '2') return spoken === 0 ? handsDown('1') : 'done'
      if (task === '1') {
        if (spoken > 0) await thinks
        return spoken === 0 ? handsDown('0', { background: true, category: 'helper' }) : looks
      }
      return spoken === 0 ? looks : think()
    }
    const office: Office = await open({ says, limits: { tokens: 600 } })
    await office.post(message('2'))
    await allKnown(office)
    await expectCounted(office)
    expect(await totals(office)).toMatchObject({ reserved: [0, 0, 0], sessions: [{ status: 'failed' }] })
  })

  it('is counted where it has cancelled them itself just before its end, and can be queried afterwards', async () => {
    const { think, thinks } = thinking()
    const says: OfficeOptions['says'] = async ({ spoken, task }) => {
      if (task === '2') return spoken === 0 ? handsDown('1') : 'done'
      if (task === 'Sure?') return 'Yes.'
      if (task === '0') return spoken === 0 ? looks : think()
      if (spoken === 0) return handsDown('0', { background: true })
      await thinks
      return spoken === 1 ? cancelsFirst : 'done'
    }
    const office: Office = await open({ says })
    await office.post(message('2'))
    await expect.poll(async () => sessionsIn(await office.desk()).map(({ status }) => status)).toEqual(['succeeded'])
    const sessionId = sessionsIn(await office.desk())[0]?.sessionId ?? ''
    await office.post({ kind: 'query', agent: 1, prompt: 'Sure?', query: 'q', session: sessionId })
    await expect
      .poll(async () => sessionsIn(await office.desk()).map(({ usageAfterEnd }) => usageAfterEnd))
      .toMatchObject([{ calls: 1, costNanoUsd: callNanoUsd }])
    const { spent, sessions } = await totals(office)
    expect(spent).toEqual({ costNanoUsd: 5 * callNanoUsd, sessions: 1, tokens: 550, unknownCosts: 1 })
    expect(sessions).toMatchObject([{ status: 'succeeded', used: { calls: 3, delegatedTokens: 110, sessions: 1 } }])
  })

  it('is counted once where it is resumed at once', async () => {
    const { options, thinks } = ladder()
    const office: Office = await open(options)
    await office.post(message('3'))
    await thinks
    await office.post(cancel)
    await expect.poll(async () => sessionsIn(await office.desk()).map(({ status }) => status)).toEqual(['cancelled'])
    const sessionId = sessionsIn(await office.desk())[0]?.sessionId ?? ''
    await office.post({ kind: 'delegate', agent: 1, correlationId: 'again', prompt: '2', resume: sessionId })
    await allKnown(office, 2)
    const { spent, reserved, sessions } = await totals(office)
    expect(sessions).toMatchObject([
      { status: 'cancelled', used: spentByLadder.sessions[0]?.used },
      { status: 'succeeded', used: { calls: 1, sessions: 0 } },
    ])
    expect(spent).toEqual({ costNanoUsd: 4 * callNanoUsd, sessions: 2, tokens: 440, unknownCosts: 1 })
    expect(reserved).toEqual([0, 0, 0])
  })
})

describe.for([
  ['in one process', inOneProcess],
  ['in memory', (options: OfficeOptions) => inOneProcess({ ...options, isUnstored: true })],
  ['in three processes', inThreeProcesses],
] as const)('what sessions spend below one whose Runner fails, %s', ([, open]) => {
  it('is counted, and the cost of calls that it cut is unknown', async () => {
    const { think, thinks } = thinking()
    const says: OfficeOptions['says'] = async ({ spoken, task }) => {
      if (task === '0') return spoken === 0 ? looks : think()
      if (task !== '2') return spoken === 0 ? handsDown(`${Number(task) - 1}`) : 'done'
      if (spoken === 0) return handsDown('1', { background: true })
      await thinks
      return breaks
    }
    const office: Office = await open({ says })
    await office.post(message('3'))
    await allKnown(office)
    const { reserved, sessions, spent } = await totals(office)
    expect(reserved).toEqual([0, 0, 0])
    expect(sessions).toMatchObject([{ status: 'failed', used: { sessions: 2 } }])
    expect(spent).toMatchObject({ costNanoUsd: 3 * callNanoUsd, sessions: 2, tokens: 330 })
    expect(spent.unknownCosts).toBeGreaterThanOrEqual(2)
  })
})

/** The sessions of an office, from the highest to the lowest. */
async function ids({ desk, session }: Office): Promise<readonly string[]> {
  const found: string[] = []
  for (
    let [below] = sessionsIn(await desk());
    below !== undefined;
    [below] = sessionsIn(await session(below.sessionId))
  )
    found.push(below.sessionId)
  return found
}

async function isCancelled(office: Office): Promise<void> {
  await expect.poll(async () => sessionsIn(await office.desk()).map(({ status }) => status)).toEqual(['cancelled'])
}

describe('what sessions spend below one that is stopped, elsewhere', () => {
  const taken = ['the highest', 'the middle', 'the lowest'].flatMap((which, level) =>
    ['before', 'after'].map((when) => [which, when, level] as const),
  )

  it.for(taken)('is counted where %s of them is taken from its worker %s the stop', async ([, when, level]) => {
    const { options, thinks } = ladder()
    const office = await inThreeProcesses(options)
    await office.post(message('3'))
    await thinks
    const sessionId = (await ids(office))[level] ?? ''
    const take = (): void => {
      const holder = office.board.holderOf({ root: 'desk', sessionId })
      if (holder !== undefined) office.board.suspect(holder)
    }
    if (when === 'before') take()
    await office.post(cancel)
    if (when === 'after') {
      await isCancelled(office)
      take()
    }
    await allKnown(office)
    await expectCounted(office)
    expect((await totals(office)).reserved).toEqual([0, 0, 0])
    await expect.poll(() => office.board.unfinished).toEqual([])
  })

  it('holds up no one: the session above is cancelled at once, and learns it where it is driven next', async () => {
    const { options, thinks } = ladder()
    const office = await inThreeProcesses({ ...options, workers: [] })
    const first = ['one', 'two', 'three'].map((name) => office.worker(name, { maxSessions: 2 }))
    await office.post(message('3'))
    await thinks
    await Promise.all(first.map((worker) => worker.stop()))
    await office.post(cancel)
    const root = office.worker('root', { maxSessions: 0 })
    await isCancelled(office)
    expect(sessionsIn(await office.desk())[0]?.usage).toBeUndefined()
    await root.stop()
    const sessions = office.worker('sessions', { maxWorlds: 0 })
    await expect.poll(() => office.board.unfinished).toEqual([])
    await sessions.stop()
    office.worker('later', { maxSessions: 0 })
    await allKnown(office)
    await expectCounted(office)
    expect((await totals(office)).reserved).toEqual([0, 0, 0])
  })

  it('is counted once where it is told twice', async () => {
    const { options, thinks } = ladder()
    const office = await inThreeProcesses(options)
    await office.post(message('3'))
    await thinks
    await office.post(cancel)
    await allKnown(office)
    const { sessionId = '', usage = { calls: 0, sessions: 0 } } = sessionsIn(await office.desk())[0] ?? {}
    for (const id of ['again', 'and again']) {
      const line = letterLine({ session: sessionId, news: { kind: 'stopped', usage } })
      await office.store.post({ root: 'desk', world: 'desk', line, id })
    }
    await expect
      .poll(async () => (await office.store.list()).find(({ name }) => name === 'desk')?.letters)
      .toBeUndefined()
    expect(await totals(office)).toEqual(spentByLadder)
  })

  it('has an unknown cost where a World below is lost, and is told all the same', async () => {
    const { think, thinks } = thinking()
    const says: OfficeOptions['says'] = ({ spoken, task }) => {
      if (task !== '0') return spoken === 0 ? handsDown(`${Number(task) - 1}`) : 'done'
      return spoken === 0 ? looks : think()
    }
    const office = await inThreeProcesses({ says, workers: [] })
    const first = office.worker('first')
    await office.post(message('2'))
    await thinks
    await first.stop()
    await office.post(cancel)
    const root = office.worker('root', { maxSessions: 0 })
    await expect.poll(async () => sessionsIn(await office.desk()).map(({ status }) => status)).toEqual(['cancelled'])
    await root.stop()
    const [, lowest = ''] = await ids(office)
    const journal = await office.store.open(lowest, { root: 'desk' })
    await journal.commit({ snapshot: { tick: 1_000, lines: ['{"is":"broken"}'] } })
    await journal.close()
    office.worker('second')
    await allKnown(office)
    const { spent, reserved } = await totals(office)
    expect(spent).toMatchObject({ tokens: 110, costNanoUsd: callNanoUsd })
    expect(spent.unknownCosts).toBeGreaterThanOrEqual(1)
    expect(reserved).toEqual([0, 0, 0])
  })
})
