import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { askArguments, askHelp } from '../../../src/cli/ask-arguments.ts'
import { contextFlags } from '../../../src/cli/config/context-flags.ts'
import { restoring } from '../../../src/cli/lead.ts'
import {
  Ceilings,
  type Config,
  Context,
  contextCommand,
  contextCommands,
  mergeConfig,
  readConfig,
} from '../../../src/doors/context.ts'
import { fileTools, Runner, sqliteStore } from '../../../src/index.ts'
import { living } from '../../behaviour/context/long-lives.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { answerOf, asking, only } from '../../cli/asking.ts'
import { eventsOf, Program, run } from '../../cli/program.ts'
import { files, question } from '../../cli/read-folder.ts'

// A process takes its time to begin, more so where many do.
vi.setConfig({ testTimeout: 60_000 })

function flags(...words: readonly string[]) {
  return askArguments(words).flags
}

/** What the agent of a run was given. */
async function leadOf(data: string) {
  const store = sqliteStore({ folder: data })
  const runner = await Runner.open({ store, name: 'ask-1', ...restoring })
  await runner.stop()
  await store.close()
  const [agent] = runner.world.query(Context)
  if (agent === undefined) throw new Error('the lead has no Context')
  return { context: runner.world.read(agent, Context), ceilings: runner.world.get(agent, Ceilings) }
}

describe('an option of the configuration', () => {
  const cases: readonly (readonly [words: readonly string[], path: string, value: unknown])[] = [
    [['--no-compact'], 'context.compaction.enabled', false],
    [['--compaction-threshold=0.8'], 'context.compaction.threshold', 0.8],
    [['--no-checkpoint'], 'context.checkpoint.enabled', false],
    [['--agentic-tools=false'], 'context.agentic.tools', false],
    [['--agentic-tools', 'true'], 'context.agentic.tools', true],
    [['--agentic-small-model', 'ollama/qwen3'], 'context.agentic.small_model', 'ollama/qwen3'],
    [['--task=research'], 'context.task_class', 'research'],
    [['--small-tier-parent=refuse'], 'context.small_tier_parent', 'refuse'],
    [['--watchdog', 'enforce'], 'context.watchdog', 'enforce'],
    [['--max-turn-cost-usd', '.5'], 'ceilings.max_turn_cost_usd', 0.5],
    [['--max-session-cost-usd=1e1'], 'ceilings.max_session_cost_usd', 10],
    [['--on-unpriced', 'refuse'], 'ceilings.on_unpriced', 'refuse'],
    [['--yolo'], 'approval_mode', 'allow'],
  ]

  it.for(cases)('says what its key says: %j %s', ([words, path, value]) => {
    const file = path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
    expect(flags(...words)).toEqual(mergeConfig(file))
  })

  it('is in the help, each of them, and here', () => {
    for (const name of Object.keys(contextFlags)) {
      expect(askHelp).toMatch(new RegExp(`^  --${name} `, 'm'))
      expect(cases.some(([[word = '']]) => word.split('=')[0] === `--${name}`)).toBe(true)
    }
  })

  it('that is not given says nothing', () => {
    expect(flags()).toEqual({})
  })

  it.for([
    [
      ['--compaction-threshold=1'],
      '--compaction-threshold (context.compaction.threshold): must be a number above 0 and below 1, got 1.',
    ],
    [['--compaction-threshold', 'half'], 'must be a number above 0 and below 1, got "half".'],
    [
      ['--max-turn-cost-usd=0'],
      '--max-turn-cost-usd (ceilings.max_turn_cost_usd): must be a finite number above 0, got 0.',
    ],
    [['--max-session-cost-usd', 'Infinity'], 'must be a finite number above 0, got "Infinity".'],
    [['--agentic-tools=no'], 'must be true or false, got "no".'],
    [['--task=testing'], 'must be debug, implement, chat, research or review, got "testing".'],
    [['--agentic-small-model='], `must be a model's name, got "".`],
  ] as const)('is refused with a value that its key cannot have: %j', ([words, message]) => {
    expect(() => askArguments(words)).toThrow(
      expect.objectContaining({ code: 'config-invalid', message: expect.stringContaining(message) }),
    )
  })

  it('ends the program with 2 if its value is none', async () => {
    const ended = await run(['ask', '--max-turn-cost-usd=0', '--watchdog=on'], { in: await tempFolder() })
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr.split('\n')).toEqual([
      'entia: --watchdog (context.watchdog): must be off, warn, feedback or enforce, got "on".',
      '--max-turn-cost-usd (ceilings.max_turn_cost_usd): must be a finite number above 0, got 0.',
      '',
    ])
  })

  it('is refused where a run goes on', () => {
    expect(() => askArguments(['--resume', '--no-compact', '--watchdog=off'])).toThrow(
      '--resume continues an earlier run: leave out --no-compact and --watchdog.',
    )
  })
})

describe('the lead of a run', () => {
  const asGiven = ({ context }: Config) => {
    const {
      compaction,
      watchdog: mode,
      watchdogThreshold: threshold,
      smallTierParent: _,
      prices: __,
      ...rest
    } = context
    const { timeoutSeconds, ...others } = compaction
    return { ...rest, compaction: { ...others, timeoutMs: timeoutSeconds * 1_000 }, watchdog: { mode, threshold } }
  }

  it('has every default where nothing is configured, and no ceiling', async () => {
    const data = join(await tempFolder(), 'runs')
    await asking(await tempFolder(files), '--question', question, '--data', data)
    const { context, ceilings } = await leadOf(data)
    expect(context).toEqual(asGiven(readConfig({})))
    expect(ceilings).toBeUndefined()
  })

  it('is not archived: its one turn is the answer', async () => {
    const archiving = { archival: { enabled: true, trigger: { tool_call_threshold: 1 } }, subagents: { enabled: true } }
    const own = await tempFolder({ 'config.json': JSON.stringify(archiving) })
    const here = await tempFolder({ 'files/a.md': 'It is killed.\n' })
    const words = ['files', '--question', 'Who is killed?', '--fast', '--json']
    const events = eventsOf(await run(['ask', ...words], { in: here, env: { ENTIA_CONFIG_DIR: own } }))
    expect(answerOf(events)).toContain('> It is killed.')
  })

  it('keeps what it was given when it goes on, whatever the files say by then', async () => {
    const here = await tempFolder({ 'files/a.md': 'It is killed.\n' })
    const given = ['--no-checkpoint', '--max-turn-cost-usd=5', '--on-unpriced=warn', '--json']
    const program = new Program(['ask', 'files', '--question', 'Who is killed?', ...given], { in: here })
    await program.until(({ type }) => type === 'model-called')
    await program.kill()
    const own = await tempFolder({ 'config.json': '{ "context": { "watchdog": "off" } }' })
    const { code } = await run(['ask', '--resume', '--fast'], { in: here, env: { ENTIA_CONFIG_DIR: own } })
    expect(code).toBe(0)
    const { context, ceilings } = await leadOf(join(here, '.entia'))
    expect(context).toEqual(asGiven(readConfig({ context: { checkpoint: { enabled: false } } })))
    expect(ceilings).toEqual({ maxTurnCostUsd: 5, onUnpriced: 'warn' })
  })

  it('is stopped by its ceiling at the prices of the configuration, and the program says so', async () => {
    const own = await tempFolder({
      'config.json': JSON.stringify({ context: { prices: { 'scripted/reader': { input: 100, output: 100 } } } }),
    })
    const here = await tempFolder({ 'files/a.md': 'It is killed.\n' })
    const words = ['files', '--question', 'Who is killed?', '--fast', '--json', '--max-turn-cost-usd', '0.0001']
    const ended = await run(['ask', ...words], { in: here, env: { ENTIA_CONFIG_DIR: own } })
    const [error] = only('turn-error', eventsOf(ended))
    expect(error).toMatchObject({ kind: 'cost_ceiling', retryable: false })
    expect(error?.message).toMatch(/^cost ceiling: this turn has spent \$\d\.\d{4} of \$0\.0001\.$/)
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(/^entia: ask-1 ended without an answer \(budget-spent\)\. .* Raise the ceiling with /)
  })

  it('tells once of a model without a price under a ceiling, or does not call it', async () => {
    const folder = await tempFolder(files)
    const data = ['--data', join(await tempFolder(), 'runs')]
    const warned = await asking(folder, ...data, '--question', question, '--max-session-cost-usd=1')
    expect(only('cost-unknown', warned.events)).toMatchObject([{ model: 'scripted/reader' }])
    expect(warned.end).toEqual({ how: 'answered' })
    const refused = await asking(folder, ...data, '--max-session-cost-usd=1', '--on-unpriced=refuse')
    expect(refused.end).toMatchObject({ how: 'failed', message: expect.stringContaining('--on-unpriced warn') })
    expect(only('model-called', refused.events)).toEqual([])
  })
})

describe('an agent of a run', () => {
  const full = { input: 1_000_000, output: 1 }

  it('with --no-compact is compacted at no fullness, but when it is told to', async () => {
    const { agent, runner, say, summaries } = await living({ config: flags('--no-compact'), usage: () => full })
    for (const text of ['One', 'Two', 'Three']) await say(text)
    expect(summaries).toEqual([])
    expect(await contextCommand(runner, agent, '/compact auth')).toMatchObject({ handled: true })
    const [request] = summaries
    expect(JSON.stringify(request?.messages.at(-1)?.content)).toContain('Compact focus: auth"')
  })

  it('with --no-checkpoint can mark no task as done, by a tool or a command', async () => {
    const names = (life: Awaited<ReturnType<typeof living>>) => ({
      tools: life.steps[0]?.tools.map(({ name }) => name).filter((name) => name === 'mark_task_done'),
      commands: contextCommands(life.world, life.agent).map(({ name }) => name),
    })
    const [without, usual] = [await living({ config: flags('--no-checkpoint') }), await living()]
    await without.say('One')
    await usual.say('One')
    const others = ['/context', '/stats', '/resume-after-cost-ceiling', '/resume-after-watchdog']
    expect(names(usual)).toEqual({ tools: ['mark_task_done'], commands: ['/compact', '/done', ...others] })
    expect(names(without)).toEqual({ tools: [], commands: ['/compact', ...others] })
    for (const line of ['/done', '/done with it', '/checkpoint']) {
      expect(await contextCommand(without.runner, without.agent, line)).toEqual({ handled: false })
    }
    expect(without.summaries).toEqual([])
  })

  it('with --agentic-tools=false has the bare tools only', async () => {
    const { listFiles, grepFiles, readFile } = fileTools({ folder: await tempFolder(files) })
    const tools = [listFiles, grepFiles, readFile]
    const wrappers = async (...words: readonly string[]): Promise<string[] | undefined> => {
      const life = await living({ agent: { tools }, config: flags(...words), runner: { tools } })
      await life.say('One')
      return life.steps[0]?.tools.map(({ name }) => name).filter((name) => name.startsWith('agentic_'))
    }
    expect((await wrappers())?.toSorted()).toEqual(['agentic_grep', 'agentic_read_file', 'agentic_research'])
    expect(await wrappers('--agentic-tools=false')).toEqual([])
  })
})
