import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { askArguments } from '../../../src/cli/ask-arguments.ts'
import { readSettings } from '../../../src/cli/config/settings.ts'
import type { ConfigInput } from '../../../src/doors/context.ts'
import { EntiaError } from '../../../src/index.ts'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'
import { eventsOf, run } from '../../cli/program.ts'
import { defaults } from '../../rules/config/whole-config.ts'

// A process takes its time to begin, more so where many do.
vi.setConfig({ testTimeout: 60_000 })

interface Files {
  /** The person's own file. */
  readonly user?: unknown
  /** The project's. */
  readonly project?: unknown
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content)
}

/** A working folder and a person's own folder with these files. */
async function folders({ user, project }: Files): Promise<{ readonly cwd: string; readonly own: string }> {
  const own = await tempFolder(user === undefined ? {} : { 'config.json': textOf(user) })
  const cwd = await tempFolder(project === undefined ? {} : { '.entia/config.json': textOf(project) })
  return { cwd, own }
}

async function settings(files: Files, flags: ConfigInput = {}) {
  const { cwd, own } = await folders(files)
  return readSettings({ flags, cwd, environment: { ENTIA_CONFIG_DIR: own } })
}

/** What a person's own file of this text is refused with, its folder left out. */
async function refusal(text: string): Promise<{ readonly message: string; readonly details: object }> {
  const { cwd, own } = await folders({ user: text })
  const thrown: unknown = await readSettings({ flags: {}, cwd, environment: { ENTIA_CONFIG_DIR: own } }).catch(
    (error: unknown) => error,
  )
  if (!(thrown instanceof EntiaError) || thrown.code !== 'config-invalid') throw new Error('it was read')
  return { message: thrown.message.replaceAll(`${own}/`, ''), details: thrown.details }
}

describe('the configuration of a program', () => {
  it('has every default where there are no files', async () => {
    expect(await settings({})).toEqual({ config: defaults, approvalMode: 'ask', notices: [] })
  })

  it("is the command line's, then the project's, then the person's own, key by key", async () => {
    const { config, notices } = await settings(
      {
        user: {
          context: { compaction: { threshold: 0.5, mid_turn: 0.9, max_output_tokens: 100 }, task_class: 'chat' },
          ceilings: { max_session_cost_usd: 9 },
        },
        project: { context: { compaction: { threshold: 0.6, midTurn: 0.8 } }, ceilings: { maxSessionCostUsd: 5 } },
      },
      askArguments(['--compaction-threshold', '0.7', '--task=debug']).flags,
    )
    expect(config.context.compaction).toMatchObject({ threshold: 0.7, midTurn: 0.8, maxOutputTokens: 100 })
    expect(config.context.taskClass).toBe('debug')
    expect(config.ceilings.maxSessionCostUsd).toBe(5)
    expect(notices).toEqual([])
  })

  it('may have comments, and commas at the end', async () => {
    const text = '\uFEFF// mine\n{ "context": { /* none */ "watchdog": "off", }, }\n'
    expect((await settings({ user: text })).config.context.watchdog).toBe('off')
  })
})

describe('a configuration file that cannot be used', () => {
  it.for<[text: string, line: number, column: number, key: string, message: string]>([
    [
      '{\n  "context": {\n    "compaction": { "threshold": 1 }\n  }\n}',
      3,
      21,
      'context.compaction.threshold',
      'expected a number above 0 and below 1, got 1.',
    ],
    [
      '{ "ceilings": { "maxTurnCostUsd": 0 } }',
      1,
      17,
      'ceilings.maxTurnCostUsd',
      'expected a finite number above 0, got 0.',
    ],
    [
      '{ "context": { "treshold": 1 } }',
      1,
      16,
      'context.treshold',
      'expected one of agentic, checkpoint, compaction, models_by_tier, prices, small_tier_parent, task_class, tiers, ' +
        'watchdog, watchdog_threshold, got a key that is not known.',
    ],
    [
      '{ "context": { "taskClass": "chat", "task_class": "chat" } }',
      1,
      37,
      'context.task_class',
      'expected one spelling of a key, got the same key as context.taskClass.',
    ],
    ['{ "model": "a/b",\n"model": "a/c" }', 2, 1, 'model', 'expected a key once, got the same key again.'],
    [
      '{ "context": { "prices": { "a/b c": { "input": -1 } } } }',
      1,
      39,
      'context.prices["a/b c"].input',
      'expected a number from 0 to 1000000, got -1.',
    ],
  ])('is named with the place of the key: %j', async ([text, line, column, key, message]) => {
    const refused = await refusal(text)
    expect(refused.message).toBe(`config.json:${line}:${column}: ${key}: ${message}`)
    expect(refused.details).toMatchObject({ line, column, path: key })
  })

  it.for([
    ['{ "context": { "watchdog": "off" }', '1:35: expected a comma or }, got the end of the file.'],
    ['{\r\n  "model" "a/b"\r\n}', '2:11: expected a colon, got "\\"a/b\\"".'],
    ['{ model: 1 }', '1:3: expected a key in double quotes, got "model".'],
    ['{ "model": none }', '1:12: expected a value, got "none".'],
    ['{ "model": "a/b }', '1:12: expected a double quote at the end of the text, got "\\"a/b }".'],
    ['', '1:1: expected an object, got an empty file.'],
    ['[]', '1:1: expected an object, got a list.'],
    ['[', '1:2: expected a comma or ], got the end of the file.'],
  ] as const)('is named with the place where it is no JSON: %j', async ([text, message]) => {
    expect((await refusal(text)).message).toBe(`config.json:${message}`)
  })

  it('is refused if its brackets are far too many', async () => {
    const { message } = await refusal(`{ "model": ${'['.repeat(100_000)}`)
    expect(message).toBe('config.json:1:75: expected at most 64 brackets within each other, got one more.')
  })

  it('has all that is wrong named, a line each', async () => {
    const { message } = await refusal('{ "model": "",\n "context": 7 }')
    expect(message.split('\n')).toEqual([
      `config.json:1:3: model: expected a model's name, got "".`,
      'config.json:2:2: context: expected an object, got 7.',
    ])
  })

  it('is refused when it is none, or far too long', async () => {
    const { cwd, own } = await folders({ user: ' '.repeat(2 ** 20 + 1) })
    const environment = { ENTIA_CONFIG_DIR: own }
    await expect(readSettings({ flags: {}, cwd, environment })).rejects.toThrow(
      /It must have at most 1048576 bytes, got 1048577\./,
    )
    await addFiles(cwd, { '.entia/config.json/a': '' })
    const elsewhere = { ENTIA_CONFIG_DIR: cwd }
    await expect(readSettings({ flags: {}, cwd, environment: elsewhere })).rejects.toThrow(/It is not a file\.$/)
  })

  it('ends the program with 2, and nothing is begun', async () => {
    const { cwd } = await folders({ project: '{\n  "model": "ollama/qwen3",\n  "maxStep": 5\n}' })
    const { code, stdout, stderr } = await run(['ask', '.', '--question', 'Why?'], { in: cwd })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.startsWith(`entia: ${cwd}/.entia/config.json:3:3: maxStep: expected one of `)).toBe(true)
    expect(stderr.endsWith(", got a key that is not known. Did you mean 'maxSteps'?\n")).toBe(true)
  })
})

describe("a project's file in a folder that is not trusted", () => {
  const bounds = {
    ceilings: { max_session_cost_usd: 10, max_turn_cost_usd: 1, on_unpriced: 'refuse' },
    context: { watchdog: 'enforce', watchdog_threshold: 4, small_tier_parent: 'refuse' },
    approvalMode: 'deny',
  }
  const tighter = {
    ceilings: { max_session_cost_usd: 9, max_turn_cost_usd: 0.5, on_unpriced: 'refuse' },
    context: { watchdog: 'enforce', watchdog_threshold: 3, small_tier_parent: 'refuse' },
    approvalMode: 'deny',
  }
  const looser = {
    ceilings: { max_session_cost_usd: 11, max_turn_cost_usd: 2, on_unpriced: 'warn' },
    context: {
      watchdog: 'feedback',
      watchdog_threshold: 6,
      small_tier_parent: 'warn',
      prices: { x: { input: 0 } },
      compaction: { threshold: 0.4 },
    },
    approvalMode: 'ask',
    trustedFolders: ['/'],
  }

  it('may tighten what the person has set', async () => {
    const { config, notices } = await settings({ user: bounds, project: tighter })
    expect(config.ceilings).toEqual({ maxSessionCostUsd: 9, maxTurnCostUsd: 0.5, onUnpriced: 'refuse' })
    expect(config.context).toMatchObject({ watchdog: 'enforce', watchdogThreshold: 3 })
    expect(notices).toEqual([])
    const alone = await settings({ project: tighter })
    expect(alone.config).toEqual({ ...config, trustedFolders: undefined })
    expect(alone.notices).toEqual([])
  })

  it('loosens nothing: each key that would is left out and named once, and all else counts', async () => {
    const { cwd, own } = await folders({ user: bounds, project: looser })
    const environment = { ENTIA_CONFIG_DIR: own }
    const { config, approvalMode, notices } = await readSettings({ flags: {}, cwd, environment })
    expect(config.ceilings).toEqual({ maxSessionCostUsd: 10, maxTurnCostUsd: 1, onUnpriced: 'refuse' })
    expect(config.context).toMatchObject({
      ...{ watchdog: 'enforce', watchdogThreshold: 4, smallTierParent: 'refuse', prices: {} },
      compaction: { threshold: 0.4 },
    })
    expect({ approvalMode, trusted: config.trustedFolders }).toEqual({ approvalMode: 'deny', trusted: undefined })
    const [notice = '', ...more] = notices
    expect(more).toEqual([])
    const [first, ...lines] = notice.split('\n')
    expect(first).toBe('This folder is not trusted, so its configuration may only tighten your own. Ignored:')
    const named = lines.slice(0, -1).map((line) => /^ {2}(\S+:\d+:\d+): (\S+)$/.exec(line)?.[2])
    expect(named).toEqual([
      'approvalMode',
      'ceilings.max_session_cost_usd',
      'ceilings.max_turn_cost_usd',
      'ceilings.on_unpriced',
      'context.prices',
      'context.small_tier_parent',
      'context.watchdog',
      'context.watchdog_threshold',
      'trustedFolders',
    ])
    expect(lines[1]).toBe(`  ${cwd}/.entia/config.json:1:14: ceilings.max_session_cost_usd`)
    expect(lines.at(-1)).toBe(`To trust it, put "${cwd}" into trustedFolders in ${own}/config.json.`)
  })

  it('cannot let tools run without asking, by the mode or by a task class', async () => {
    const byMode = await settings({ project: { approvalMode: 'allow' } })
    expect(byMode.approvalMode).toBe('ask')
    const byClass = await settings({ project: { context: { task_class: 'research' } } })
    expect(byClass.approvalMode).toBe('ask')
    expect(byClass.config.context.taskClass).toBe('research')
    expect(byClass.notices[0]).toContain('context.task_class (its approval of every tool call)')
    const byPerson = await settings(
      { project: { context: { task_class: 'research' } } },
      askArguments(['--task=research']).flags,
    )
    expect(byPerson).toMatchObject({ approvalMode: 'allow', notices: [] })
  })

  it('says all of it once the person trusts the folder, by whatever name, and no folder below it', async () => {
    const { cwd, own } = await folders({ project: { ...looser, approvalMode: 'allow', trustedFolders: ['/'] } })
    const link = join(own, 'link')
    symlinkSync(cwd, link)
    const environment = { ENTIA_CONFIG_DIR: own }
    await addFiles(own, { 'config.json': JSON.stringify({ ...bounds, trustedFolders: [link] }) })
    const { config, approvalMode, notices } = await readSettings({ flags: {}, cwd, environment })
    expect(config.ceilings).toEqual({ maxSessionCostUsd: 11, maxTurnCostUsd: 2, onUnpriced: 'warn' })
    expect(config.context.prices).toEqual({ x: { input: 0 } })
    expect({ approvalMode, notices, trusted: config.trustedFolders }).toEqual({
      ...{ approvalMode: 'allow', notices: [] },
      trusted: [link],
    })
    await addFiles(cwd, { 'below/.entia/config.json': JSON.stringify({ ceilings: { max_turn_cost_usd: 3 } }) })
    const below = await readSettings({ flags: {}, cwd: join(cwd, 'below'), environment })
    expect(below.config.ceilings.maxTurnCostUsd).toBe(1)
  })

  it("is the person's own where both are the same file", async () => {
    const { cwd } = await folders({ project: { ...looser, trustedFolders: ['/nowhere'] } })
    const environment = { ENTIA_CONFIG_DIR: '.entia' }
    const { config, notices } = await readSettings({ flags: {}, cwd, environment })
    expect({ prices: config.context.prices, notices }).toEqual({ prices: { x: { input: 0 } }, notices: [] })
  })

  it('is told of on stderr, and the run goes on', async () => {
    const { cwd, own } = await folders({ project: { context: { prices: {} } } })
    await addFiles(cwd, { 'a.md': 'Nothing.\n' })
    const { code, stdout, stderr } = await run(['ask', '.', '--question', 'Why?', '--fast', '--json'], {
      in: cwd,
      env: { ENTIA_CONFIG_DIR: own },
    })
    expect(code).toBe(0)
    expect(stderr).toMatch(/^entia: This folder is not trusted, .*\n {2}\S+:1:13: context\.prices\nTo trust it, .*\n$/)
    expect(eventsOf({ code, stdout, stderr, signal: null }).at(-1)).toMatchObject({ type: 'run-ended', stop: 'done' })
  })
})
