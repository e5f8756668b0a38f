import { agent, textOf } from 'entia'
import { Ceilings, contextCommand, contextCommands, contextReport, contextStats } from 'entia/context'
import { Boundary, CostCeiling, Ledger, WatchdogLatch } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { emptyWorld } from '../turns/driving.ts'
import { frontier, handover, type Life, type LifeOptions, living, textsOf } from './long-lives.ts'

const usd = 1e9

/** What comes of a line. */
async function typed({ agent, runner }: Life, line: string): Promise<string> {
  const result = await contextCommand(runner, agent, line)
  if (!result.handled) throw new Error(`${line} is no command`)
  return result.text
}

/** An agent that has spent this much in its life. */
async function spender(spentUsd: number, ceilings: NonNullable<LifeOptions['config']>['ceilings']): Promise<Life> {
  const life = await living({ config: { ceilings } })
  await life.runner.change((world) => {
    const nanoUsd = spentUsd * usd
    const models = { [frontier]: { calls: 1, costNanoUsd: nanoUsd } }
    world.set(life.agent, Ledger, { models, sessionNanoUsd: nanoUsd, turnNanoUsd: 0 })
  })
  return life
}

describe('the commands of an agent', () => {
  it('are listed with what they take and a line of help each', async () => {
    const { agent, world } = await living()
    expect(contextCommands(world, agent).map(({ name, aliases, argument }) => [name, argument, ...aliases])).toEqual([
      ['/compact', '[focus]', '/summarize'],
      ['/done', '[note]', '/checkpoint'],
      ['/context', '', '/boundaries'],
      ['/stats', ''],
      ['/resume-after-cost-ceiling', '[usd]'],
      ['/resume-after-watchdog', ''],
    ])
    for (const { help } of contextCommands(world, agent)) expect(help).toMatch(/^[A-Z].*\.$/)
  })

  it('lack /done where checkpoints are off, and never /compact', async () => {
    const compaction = { enabled: false }
    const life = await living({ config: { context: { checkpoint: { enabled: false }, compaction } } })
    const names = contextCommands(life.world, life.agent).map(({ name }) => name)
    expect(names).toContain('/compact')
    expect(names).not.toContain('/done')
    expect(await contextCommand(life.runner, life.agent, '/done it')).toEqual({ handled: false })
    expect(await typed(life, '/compact')).toMatch(/^Compacted: /)
  })

  it('lack both where an agent has no configuration', () => {
    const world = emptyWorld()
    const bare = world.spawn(...agent({ model: frontier }))
    expect(contextCommands(world, bare).map(({ name }) => name)).not.toContain('/compact')
  })

  it.for(['compact', 'Well, /compact', '//compact', '/compacts', '/Compact', '/', '', '/stat', '/tmp/done'])(
    'are not meant by %j',
    async (line) => {
      const { agent, runner, summaries } = await living()
      expect(await contextCommand(runner, agent, line)).toEqual({ handled: false })
      expect(summaries).toEqual([])
    },
  )
})

describe('/compact', () => {
  it('makes a summary with its focus at the end of the prompt, and says how long it is', async () => {
    const life = await living()
    expect(await typed(life, ' /compact  auth module\nand its tests ')).toBe(
      `Compacted: a summary (${handover.length} characters) stands for what was said before.`,
    )
    expect(textsOf(life.summaries[0]!).at(-1)).toMatch(/\nCompact focus: auth module\nand its tests$/)
    expect(life.world.read(life.agent, Boundary)).toMatchObject([{ kind: 'summary', by: 'manual' }])
    expect(await typed(life, '/summarize')).toBe(
      'Nothing was compacted: there is nothing that was not summarized before.',
    )
  })

  it('says what a summary lacks', async () => {
    const summary = () => ({
      text: '# Current state\nAll well.\n# Files & changes\n# Technical context\n# Strategy & approach',
    })
    expect(await typed(await living({ summary }), '/compact')).toMatch(/; without # Exact next steps\) stands /)
  })

  it('says why nothing was compacted', async () => {
    const life = await living({ summary: () => '' })
    const text = await typed(life, '/compact')
    expect(text).toMatch(/^Nothing was compacted, and the conversation stays as it was\. \S.*\.$/)
    expect(life.world.has(life.agent, Boundary)).toBe(false)
  })

  it('says how to go on where no money is left', async () => {
    const life = await spender(2, { maxSessionCostUsd: 1 })
    await life.say('One')
    expect(await typed(life, '/compact')).toMatch(/ \/resume-after-cost-ceiling goes on\.$/)
    expect(life.summaries).toEqual([])
  })
})

describe('/done', () => {
  it('writes a record with its note, and says so', async () => {
    const life = await living()
    expect(await typed(life, '/done shipped')).toMatch(/^Done: a record \(\d+ characters; .*\) stands for the task\.$/)
    expect(textsOf(life.summaries[0]!).at(-1)).toMatch(/\nCompletion note: shipped$/)
    expect(await typed(life, '/checkpoint')).toBe(
      'No record was written: there is nothing that was not summarized before.',
    )
  })
})

describe('/context', () => {
  it('shows the report as of now', async () => {
    const life = await living()
    await typed(life, '/compact auth')
    const { clock } = life.runner.host
    await new Promise<void>((resolve) => void clock.at(clock.now() + 252_000, resolve))
    const text = await typed(life, '/context')
    expect(text).toContain('  Compactions: 1 (last 4m12s ago, focus: auth)\n')
    expect(text).toBe(contextReport(contextStats(life.world, life.agent), life.world.nowMs))
    expect(await typed(life, '/boundaries')).toBe(text)
  })

  it('has a row for each model where there are two, the dearest first, and none where there is one', async () => {
    const life = await living()
    const row = (costUsd: number) => ({ calls: 2, input: 100, output: 10, costNanoUsd: costUsd * usd })
    const spent = (models: Record<string, ReturnType<typeof row>>) =>
      life.runner.change((world) => world.set(life.agent, Ledger, { models, sessionNanoUsd: 0, turnNanoUsd: 0 }))
    await spent({ 'a/cheap': row(0.01), 'b/dear': row(0.02) })
    expect((await typed(life, '/context')).split('\n').slice(-2)).toEqual([
      '  Models: dear (2 calls, 100 in / 10 out, $0.0200)',
      '        + cheap (2 calls, 100 in / 10 out, $0.0100)',
    ])
    await spent({ 'a/cheap': row(0.01) })
    expect(await typed(life, '/context')).not.toContain('Models')
  })
})

describe('/stats', () => {
  it('shows what the turn and the session came to, and what each model has used', async () => {
    const life = await living({ usage: () => ({ input: 100, cacheRead: 800, cacheWrite: 100, output: 10 }) })
    await life.say('One')
    await life.runner.change((world) => {
      const row = { calls: 2, input: 200, cacheRead: 1_600, cacheWrite: 200, output: 20, costNanoUsd: 0.02 * usd }
      const models = { [frontier]: row, 'a/unpriced': { calls: 1, input: 5, output: 1, unpriced: 1 } }
      world.set(life.agent, Ledger, { models, sessionNanoUsd: 0.02 * usd, turnNanoUsd: 0.01 * usd })
    })
    expect((await typed(life, '/stats')).split('\n')).toEqual([
      'Usage:',
      '  Turn: 1 step, 0 tool calls, $0.0100',
      '  Session: 3 model calls, at least $0.0200',
      '  Tokens: 2005 in (1600 cache read, 200 cache write) / 21 out',
      '  Models: claude-opus-x (2 calls, 2000 in / 20 out, $0.0200)',
      '        + unpriced (1 call, 5 in / 1 out, no price)',
      '  No price: a/unpriced',
    ])
  })

  it('says of an agent that has done nothing that there was none', async () => {
    const life = await living()
    expect(await typed(life, '/stats')).toBe(
      'Usage:\n  Turn: none yet\n  Session: 0 model calls, $0.0000\n  Tokens: 0 in (0 cache read, 0 cache write) / 0 out',
    )
  })
})

describe('an agent that was stopped', () => {
  it('is said to be by /context and /stats, with what lets it continue', async () => {
    const life = await spender(12, { maxSessionCostUsd: 10 })
    await life.say('One')
    const line =
      '  Stopped: cost ceiling: this session has spent $12.0000 of $10.0000. /resume-after-cost-ceiling continues.'
    expect(await typed(life, '/context')).toContain(line)
    expect(await typed(life, '/stats')).toContain(line)
    expect(contextStats(life.world, life.agent).stopped?.by).toBe('cost-ceiling')
    await typed(life, '/resume-after-cost-ceiling 5')
    expect(await typed(life, '/context')).not.toContain('Stopped')
  })
})

describe('/resume-after-cost-ceiling', () => {
  it('raises the ceiling that has stopped the agent, and lets it go on', async () => {
    const life = await spender(12, { maxSessionCostUsd: 10 })
    await life.say('One')
    expect([life.steps.length, life.world.has(life.agent, CostCeiling)]).toEqual([0, true])
    expect(await typed(life, '/resume-after-cost-ceiling')).toBe(
      'cost ceiling: this session has spent $12.0000 of $10.0000. Say by how much to raise it: /resume-after-cost-ceiling 5 adds $5.',
    )
    expect(await typed(life, '/resume-after-cost-ceiling $5')).toBe(
      'The cost ceiling is reset. The session may spend $15.0000; $12.0000 of it is spent. Say what is to be done next.',
    )
    await life.say('Two')
    expect(life.steps).toHaveLength(1)
  })

  it('raises a ceiling that was not reached', async () => {
    const life = await spender(1, { maxSessionCostUsd: 10 })
    expect(await typed(life, '/resume-after-cost-ceiling 2.5')).toBe(
      'The session may spend $12.5000; $1.0000 of it is spent.',
    )
    expect(life.world.read(life.agent, Ceilings).maxSessionCostUsd).toBe(12.5)
  })

  it.for([
    ['', 'No cost ceiling was reached: there is nothing to reset.'],
    [' 5', 'The session has no ceiling that could be raised: leave the amount out.'],
    [' 0', 'The amount must be US dollars above 0, such as 5, got "0".'],
    [' much', 'The amount must be US dollars above 0, such as 5, got "much".'],
  ] as const)('%j says what it takes where there is nothing to do', async ([argument, text]) => {
    expect(await typed(await living(), `/resume-after-cost-ceiling${argument}`)).toBe(text)
  })
})

describe('/resume-after-watchdog', () => {
  it('lets an agent go on that was stopped', async () => {
    const life = await living({
      config: { context: { watchdog: 'enforce', watchdogThreshold: 2 } },
      answer: ({ messages }) =>
        messages.some((message) => textOf(message) === 'Two')
          ? 'Well.'
          : { toolCalls: [{ name: 'none', arguments: {} }] },
    })
    await life.say('One')
    expect(life.world.has(life.agent, WatchdogLatch)).toBe(true)
    expect(await typed(life, '/resume-after-watchdog')).toBe(
      'The watchdog is reset. Say what is to be done differently.',
    )
    const before = life.steps.length
    await life.say('Two')
    expect(life.steps).toHaveLength(before + 1)
    expect(await typed(life, '/resume-after-watchdog')).toBe(
      'The watchdog has stopped nothing: there is nothing to reset.',
    )
  })
})
