import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { VirtualClock } from 'entia'
import { describe, expect, it } from 'vitest'
import { ChatStatus, gitBranch } from '../../../src/cli/chat/chat-status.ts'
import { type StatusFacts, statusLine } from '../../../src/cli/chat/status-line.ts'
import { chatting, gate } from '../../runtime/chat/chatting.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { TypedChat } from './typed-chat.ts'

const facts: StatusFacts = {
  model: 'claude-sonnet-5-5',
  folder: 'app',
  branch: 'main',
  inputTokens: 12_345,
  outputTokens: 678,
  costUsd: 0.0512,
  fullness: 0.0812,
  isPlanning: false,
  shells: 2,
  subagents: 1,
}

describe('the status line', () => {
  it('says what the model, the place, the tokens, the cost, the window and the background are', () => {
    expect(statusLine(facts, 120)).toBe(
      'claude-sonnet-5-5 · app (main) · 12.3K in · 678 out · $0.05 · 8% of the window · 2 shells, 1 subagent',
    )
  })

  it('says nothing of what is not known', () => {
    const { model, folder } = facts
    expect(statusLine({ model, folder, isPlanning: true, shells: 0, subagents: 0 }, 80)).toBe(
      'claude-sonnet-5-5 · plan mode · app',
    )
  })

  it('shows names of others as text: nothing in them acts on the terminal or takes another row', () => {
    const hostile = 'a\u001b[2J\u009b6n\u202E\nb'
    expect(statusLine({ ...facts, model: hostile, folder: hostile, branch: hostile }, 120)).toMatch(
      /^a\?b · a\?b \(a\?b\) · /,
    )
  })

  it('gives way on a narrow terminal, what matters least first', () => {
    expect(statusLine(facts, 80)).toBe(
      'claude-sonnet-5-5 · app (main) · $0.05 · 8% of the window · 2 shells, 1 subagent',
    )
    expect(statusLine(facts, 40)).toBe('claude-sonnet-5-5 · 2 shells, 1 subagent')
    expect(statusLine(facts, 20)).toBe('claude-sonnet-5-5')
    expect(statusLine(facts, 11)).toBe('')
  })

  it('is never wider than the terminal, with wide letters and long names too', () => {
    const wide = {
      ...facts,
      model: `模型-${'very-long-'.repeat(9)}`,
      folder: '📦'.repeat(60),
      branch: `机能/${'x'.repeat(90)}`,
    }
    for (let columns = 0; columns < 200; columns++) {
      expect(stringWidth(statusLine(wide, columns))).toBeLessThanOrEqual(columns)
      expect(stringWidth(statusLine(facts, columns))).toBeLessThanOrEqual(columns)
    }
  })

  it('stands below the line that is typed, and is gone where there is no room and when the chat ends', async () => {
    const chat = new TypedChat({ columns: 80, rows: 12, status: () => facts })
    chat.type('hello 👩‍👩‍👧 漢字')
    await chat.screen.until(/› hello 👩‍👩‍👧 漢字\nclaude-sonnet-5-5 · app \(main\) ·/)
    chat.ui.say('Printed above.')
    await chat.screen.until(/^Printed above\.\n\n› hello .*\nclaude-sonnet-5-5 [^\n]*$/)
    chat.resize(80, 4)
    await chat.screen.until(/› hello .*$/)
    chat.resize(30, 12)
    await chat.screen.until(/› hello .*\nclaude-sonnet-5-5$/)
    chat.ui.close()
    expect(await chat.screen.until(/^Printed above\.$/)).toBe(true)
  })
})

describe('the cost of a chat', () => {
  it('is not shown while that of each call is unknown, and has a mark where that of one is', async () => {
    const begun = gate()
    const { session } = chatting(
      () => {
        begun.resolve()
        return new Promise<string>(() => undefined)
      },
      { host: { clock: new VirtualClock({ auto: false }), prices: { 'script/m': { input: 10, output: 10 } } } },
    )
    const asked = session.turn('Go.')
    await begun.promise
    await session.cancel()
    expect(await asked).toMatchObject({ stop: 'cancelled', costUsd: undefined, usage: { calls: 1 } })
    expect(new ChatStatus('.').of(session)).not.toHaveProperty('costUsd')
    expect(statusLine({ ...facts, hasUnknownCost: true }, 120)).toContain('$0.05 + ·')
  })
})

describe('the branch of a folder', () => {
  it('is that of its repository, also in a folder below, in a worktree and without a commit', async () => {
    const root = await tempFolder()
    const git = (...words: string[]) => execFileSync('git', words, { cwd: root, stdio: 'pipe' }).toString().trim()
    git('init', '-q', '-b', 'feature/one')
    expect(gitBranch(root)).toBe('feature/one')
    await mkdir(join(root, 'below'))
    expect(gitBranch(join(root, 'below'))).toBe('feature/one')
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'one')
    git('worktree', 'add', '-q', '-b', 'other', join(root, 'tree'))
    expect(gitBranch(join(root, 'tree'))).toBe('other')
    git('checkout', '-q', '--detach')
    expect(gitBranch(root)).toBe(git('rev-parse', 'HEAD').slice(0, 7))
  })

  it('is unknown where there is no repository, or none that can be read', async () => {
    const folder = await tempFolder()
    await writeFile(join(folder, '.git'), 'nonsense')
    expect(gitBranch(folder)).toBeUndefined()
  })
})
