import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startAnthropicServer } from '../../servers/anthropic-server.ts'
import { type Handler, inTurn, type LoopbackServer, type Received, type Reply } from '../../servers/loopback.ts'
import { processesWith } from '../../tools/running-processes.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { ChatTerminal, type ChatTerminalOptions } from './chat-terminal.ts'

const usage = { input: 100, output: 10 }

interface Place {
  readonly server: LoopbackServer
  readonly in: string
  readonly env: Readonly<Record<string, string>>
}

/** A project, and a server that speaks as Anthropic's does. */
async function place(handler: Handler): Promise<Place> {
  const server = await startAnthropicServer(handler)
  onTestFinished(() => server.close())
  const folder = await tempFolder({ 'notes.md': 'Bees sleep at night.\n' })
  return { server, in: folder, env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'key', NO_PROXY: '*' } }
}

async function chat(
  at: Place,
  args: readonly string[] = [],
  options: Partial<ChatTerminalOptions> = {},
): Promise<ChatTerminal> {
  const terminal = new ChatTerminal(args, { ...at, ...options, env: { ...at.env, ...options.env } })
  await terminal.until(/^[›>]$/m)
  return terminal
}

function bash(command: string, id = 'call_1'): Reply {
  return { text: 'I run it.', toolCalls: [{ id, name: 'bash', arguments: JSON.stringify({ command }) }], usage }
}

const prompt = /\n\n›$/

/** The roles and texts of a request. */
function conversation({ body }: Received): string[] {
  const messages = body['messages'] as readonly { role: string; content: unknown }[]
  return messages.map(({ content, role }) => `${role}: ${JSON.stringify(content)}`)
}

describe('entia on a terminal', () => {
  it('talks to an agent, shows its reply as text, and leaves with Ctrl-D', async () => {
    const at = await place(inTurn({ text: '# Notes\n\nBees **sleep** at night.', usage }))
    const terminal = await chat(at)
    terminal.type('What is in here?\r')
    await terminal.until(/› What is in here\?\n\nNotes\n\nBees sleep at night\.\n\n1 step · [^]*\n\n›$/)
    terminal.type('\u0004')
    expect(await terminal.ended).toMatchObject({ exitCode: 0 })
    expect(terminal.screen.text).toMatch(/To go on with this chat: entia --resume \d{8}-\d{6}-\w+$/)
  })

  it.runIf(process.platform === 'linux')('says once that there is no sandbox, and what to install', async () => {
    const at = await place(() => ({ text: 'Well.', usage }))
    const terminal = await chat(at, [], { columns: 200, env: { PATH: '/nowhere' } })
    await terminal.until(/No sandbox: commands run with your rights\. bubblewrap and socat are not installed\. [^]*›$/)
    terminal.type('Hello.\r')
    await terminal.until(/Well\.[^]*›$/)
    expect(terminal.screen.text.match(/No sandbox/g)).toHaveLength(1)
  })

  it('answers an unknown slash command with the nearest name, without a model call', async () => {
    const at = await place(inTurn())
    const terminal = await chat(at)
    terminal.type('/sttats\r')
    await terminal.until('There is no command /sttats. Did you mean /stats?')
    terminal.type('/stats\r')
    await terminal.until('Session: 0 model calls')
    expect(at.server.requests).toEqual([])
  })

  it('begins another chat and leaves one in which nothing was said, without a word of what was not stored', async () => {
    const at = await place(inTurn({ text: 'Good morning.', usage }))
    const terminal = await chat(at)
    terminal.type('/new\r')
    await terminal.until(/› \/new\nA new chat\.\n\n›$/)
    terminal.type('/new\r')
    await terminal.until(/A new chat\.\n\n› \/new\nA new chat\.\n\n›$/)
    terminal.type('Good night.\r')
    await terminal.until(/Good morning\.[^]*›$/)
    terminal.type('/new\r')
    await terminal.until(/To go on with this chat: entia --resume \S+\nA new chat\.\n\n›$/)
    terminal.type('\u0004')
    expect(await terminal.ended).toMatchObject({ exitCode: 0 })
    expect(terminal.screen.text).toMatch(/A new chat\.$/)
  })

  it('goes on where another chat cannot be made', async () => {
    const at = await place(inTurn({ text: 'Here.', usage }))
    const terminal = await chat(at)
    await mkdir(join(at.in, '.entia-home/config'), { recursive: true })
    await writeFile(join(at.in, '.entia-home/config/config.json'), '{ "maxSteps": 0 }')
    terminal.type('/new\r')
    await terminal.until(/maxSteps: expected\san\sinteger ≥ 1, got 0\.\n\n›$/)
    terminal.type('Are you there?\r')
    await terminal.until(/Here\.[^]*›$/)
    expect(at.server.requests).toHaveLength(1)
  })

  it('carries out slash commands, and sends a message that begins with two slashes', async () => {
    const at = await place(inTurn(bash('touch one'), { text: 'Made.', usage }, { text: 'So you say.', usage }))
    const terminal = await chat(at, [], { rows: 60, columns: 120 })
    for (const [typed, shown] of [
      ['/help', '/permissions [tool allow|ask|deny]  show or change what tools may do'],
      ['/agents', 'no subagents'],
      ['/context', 'Context-management activity:'],
      ['/permissions bsh allow', "There is no tool bsh. Did you mean 'bash'?"],
      ['/permissions bash maybe', 'Write /permissions TOOL allow, ask or deny.'],
      ['/permissions bash allow', 'bash: allow, for this chat.'],
      ['/permissions', /^bash: allow$/m],
      ['/plan', 'Plan mode is on'],
      ['/plan', 'Plan mode is off.'],
      ['/model claude-haiku-4-5', /^anthropic\/claude-haiku-4-5$/m],
      ['/resume-after-cost-ceiling much', 'The amount must be US dollars above 0, such as 5, got "much".'],
      ['/done', 'No record was written'],
    ] as const) {
      terminal.type(`${typed}\r`)
      await terminal.until(shown)
    }
    terminal.type('Make one.\r')
    await terminal.until(/Made\.[^]*\n\n›$/)
    expect(existsSync(join(at.in, 'one'))).toBe(true)
    expect(at.server.requests[0]?.body['model']).toBe('claude-haiku-4-5')
    terminal.type('//stats\r')
    await terminal.until('So you say.')
    expect(conversation(at.server.requests[2] as Received).at(-1)).toContain('"/stats"')
  })

  it('shows how the agent goes on when a subagent has ended that it did not wait for', async () => {
    const late = Promise.withResolvers<void>()
    const at = await place(async (received) => {
      const asked = conversation(received)
      if (!asked.join().includes('Start one')) {
        await late.promise
        return { text: 'The roof is tight.', usage }
      }
      if (asked.length === 1) {
        const input = JSON.stringify({ task: 'Look at the roof.', tools: [] })
        return { text: 'I start one.', toolCalls: [{ id: 'call_1', name: 'spawn_subagent', arguments: input }], usage }
      }
      return { text: asked.length === 3 ? 'It is at work.' : 'It says that the roof is tight.', usage }
    })
    const terminal = await chat(at, [], { columns: 120 })
    terminal.type('Start one.\r')
    await terminal.until(/It is at work\.[^]*\n\n›$/)
    late.resolve()
    await terminal.until(/A subagent has ended: the agent goes on\.[^]*It says that the roof is tight\.[^]*\n\n›$/)
    expect(at.server.requests).toHaveLength(4)
    terminal.type('/agents\r')
    await terminal.until(/1 {2}worker {2}succeeded {2}\S+ {2}.* Look at the roof\./)
  })

  it.for<[string, (terminal: ChatTerminal) => void]>([
    ['left', (terminal) => terminal.type('\u0004')],
    ['terminated', (terminal) => terminal.kill('SIGTERM')],
  ])('lists and stops what runs in the background, and ends the rest when it is %s', async ([, leave]) => {
    const seconds = 300_000 + Math.trunc(performance.now())
    const start = (id: string, command: string) => {
      return { id, name: 'bash', arguments: JSON.stringify({ command, background: true }) }
    }
    const toolCalls = [start('call_1', `trap '' TERM; sleep ${seconds}`), start('call_2', `sleep ${seconds + 1}; true`)]
    const at = await place(inTurn({ text: 'I start them.', toolCalls, usage }, { text: 'They run.', usage }))
    const terminal = await chat(at, ['--allow', 'bash'], { columns: 120 })
    terminal.type('/shells\r')
    await terminal.until('Nothing runs in the background.')
    terminal.type('Start both.\r')
    await terminal.until('They run.')
    terminal.type('/shells\r')
    // Both calls are of one step: either may begin first.
    const listed = (command: string) => `(?=[^]*^sh_\\w+  running  .*${command}$)`
    await terminal.until(new RegExp(`${listed(`sleep ${seconds}`)}${listed(`sleep ${seconds + 1}; true`)}`, 'm'))
    const [, id = ''] = new RegExp(`^(sh_\\w+).*sleep ${seconds + 1}; true$`, 'm').exec(terminal.screen.text) ?? []
    terminal.type(`/shells stop ${id}\r`)
    await terminal.until(`${id} is stopped.`)
    expect(processesWith(`sleep ${seconds + 1}`)).toEqual([])
    expect(processesWith(`sleep ${seconds}`)).not.toEqual([])
    leave(terminal)
    await terminal.ended
    expect(processesWith(`sleep ${seconds}`)).toEqual([])
  })

  it('takes a line typed while the agent works into its next step', async () => {
    const at = await place(inTurn(bash('sleep 1'), { text: 'Both done.', usage }))
    const terminal = await chat(at, ['--allow', 'bash'])
    terminal.type('Do one thing.\r')
    await terminal.until(/bash \d/)
    terminal.type('And another.\r')
    await terminal.until(/Both done\.[^]*\n\n›$/)
    expect(conversation(at.server.requests[1] as Received).at(-1)).toContain('And another.')
  })

  it('cancels a turn in which a tool runs with Ctrl-C within 3 seconds, and goes on from a valid conversation', async () => {
    const at = await place(inTurn(bash('touch begun; sleep 60'), { text: 'Here again.', usage }))
    const terminal = await chat(at, ['--allow', 'bash'])
    terminal.type('Wait.\r')
    await vi.waitUntil(() => existsSync(join(at.in, 'begun')), { timeout: 20_000 })
    const since = performance.now()
    terminal.type('\u0003')
    await terminal.until(/\[turn cancelled\][^]*\n\n›$/)
    expect(performance.now() - since).toBeLessThan(3_000)
    terminal.type('\u0004')
    await terminal.ended
    const resumed = await chat(at, ['--resume'])
    await resumed.until('› Wait.')
    resumed.type('Still there?\r')
    await resumed.until('Here again.')
    expect(conversation(at.server.requests[1] as Received)).toEqual([
      expect.stringMatching(/^user: .*Wait\./),
      expect.stringMatching(/^assistant: .*"tool_use"/),
      expect.stringMatching(/^user: .*cancelled by the user; it may have taken effect/),
      expect.stringMatching(/^assistant: .*turn cancelled/),
      expect.stringMatching(/^user: .*Still there\?/),
    ])
  })

  it('stops only the step with Escape: the agent reads what is typed next in the same turn', async () => {
    const at = await place(inTurn(bash('touch begun; sleep 60'), { text: 'Here again.', usage }))
    const terminal = await chat(at, ['--allow', 'bash'])
    terminal.type('Wait.\r')
    await vi.waitUntil(() => existsSync(join(at.in, 'begun')), { timeout: 20_000 })
    terminal.type('\u001b')
    await terminal.until(/Stopped\. Say how to go on[^]*\n\n›$/)
    terminal.type('Do not wait.\r')
    await terminal.until(/› Do not wait\.\n\nHere again\.\n\n2 steps[^]*\n\n›$/)
    expect(conversation(at.server.requests[1] as Received)).toEqual([
      expect.stringMatching(/^user: .*Wait\./),
      expect.stringMatching(/^assistant: .*"tool_use"/),
      expect.stringMatching(/^user: .*cancelled by the user; it may have taken effect.*Do not wait\./),
    ])
  })

  it('that is killed after Escape waits for its user when it is resumed', async () => {
    const at = await place(inTurn(bash('touch begun; sleep 60'), { text: 'Here again.', usage }))
    const terminal = await chat(at, ['--allow', 'bash'])
    terminal.type('Wait.\r')
    await vi.waitUntil(() => existsSync(join(at.in, 'begun')), { timeout: 20_000 })
    terminal.type('\u001b')
    await terminal.until('Stopped.')
    terminal.kill()
    await terminal.ended
    const resumed = await chat(at, ['--resume'])
    await resumed.until(/The turn was stopped: say how it goes on\.[^]*I run it\.[^]*cancelled[^]*\n\n›$/)
    resumed.type('Do not wait.\r')
    await resumed.until(/› Do not wait\.\n\nHere again\.[^]*\n\n›$/)
    expect(at.server.requests).toHaveLength(2)
  })

  it('keeps nothing of a reply that Escape stopped', async () => {
    const at = await place(inTurn({ text: 'A long word. ', ends: 'silent', usage }, { text: 'Short.', usage }))
    const terminal = await chat(at)
    terminal.type('Tell me.\r')
    await terminal.until('A long word.')
    terminal.type('\u001b')
    await terminal.until(/Stopped\.[^]*\n\n›$/)
    terminal.type('Shorter.\r')
    await terminal.until(/Short\.\n\n/)
    expect(conversation(at.server.requests[1] as Received).join()).not.toContain('A long word')
  })

  it('leaves with 130 when Ctrl-C is pressed again while a turn is being cancelled', async () => {
    const at = await place(() => new Promise(() => undefined))
    const terminal = await chat(at)
    terminal.type('Think.\r')
    await terminal.until('thinking')
    terminal.type('\u0003\u0003')
    expect(await terminal.ended).toMatchObject({ exitCode: 130 })
  })

  it('is legible on a terminal of 20 columns that is resized while it prints', async () => {
    const words = Array.from({ length: 80 }, (_, index) => `word${index}`)
    const at = await place(inTurn({ text: words.join(' '), byteByByte: true, usage }))
    const terminal = await chat(at, [], { columns: 20, rows: 10 })
    terminal.type('Speak.\r')
    await terminal.until('word10')
    terminal.resize(60, 20)
    await terminal.until('word40')
    terminal.resize(20, 10)
    await terminal.until(/word79\n\n1 step[^]*\n\n›$/)
    expect(terminal.screen.text.match(/word\d+/g)).toEqual(words)
  })

  it('sends ASCII only where the locale is not UTF-8', async () => {
    const at = await place(inTurn({ text: '“Größe” → 3', usage }))
    const terminal = await chat(at, [], { env: { LANG: 'C' } })
    terminal.type('How big?\r')
    await terminal.until('"Grosse" -> 3')
    // oxlint-disable-next-line no-control-regex
    expect(terminal.sent).toMatch(/^[\u0000-\u007f]*$/)
  })

  it('sends no colours where NO_COLOR is set', async () => {
    const at = await place(inTurn({ text: '**Bold**', usage }))
    const terminal = await chat(at, [], { env: { NO_COLOR: '1' } })
    terminal.type('Say it.\r')
    await terminal.until('Bold')
    // oxlint-disable-next-line no-control-regex
    expect(terminal.sent).not.toMatch(/\u001b\[[\d;]*m/)
  })

  it('sends plain lines alone to a dumb terminal: a reply, a question, a cancelled turn', async () => {
    const at = await place(
      inTurn(
        { text: '# Notes\n\nIt is **bold**.', usage },
        bash('touch made'),
        { text: 'Made.', usage },
        bash('sleep 86.2'),
      ),
    )
    const terminal = await chat(at, [], { env: { TERM: 'dumb' } })
    terminal.type('Hi\r')
    await terminal.until(/leaves\.\n› Hi\n+Notes\n\nIt is bold\.\n\n1 step[^\n]*\n\n?›$/m)
    terminal.type('Make it.\r')
    await terminal.until(/bash asks[^]*touch made[^]*y yes, once[^]*\n\? ?$/)
    terminal.type('y\r')
    await terminal.until(/Made\.\n\n2 steps[^\n]*\n\n?›$/)
    terminal.type('Wait.\r')
    await terminal.until(/sleep 86\.2[^]*\n\? ?$/)
    terminal.type('y\r')
    await vi.waitFor(() => expect(processesWith('sleep 86.2')).not.toEqual([]), 20_000)
    terminal.type('\u0003')
    await terminal.until(/\[turn cancelled\]\n1 step[^\n]*\n\n?›$/)
    terminal.type('\u0004')
    expect(await terminal.ended).toMatchObject({ exitCode: 0 })
    // oxlint-disable-next-line no-control-regex
    expect(terminal.sent).not.toMatch(/[\u001b\u0007]/)
    expect(terminal.sent.match(/› Hi/g)).toHaveLength(1)
  })

  it('refuses a chat that is open in another terminal, and says where', async () => {
    const at = await place(inTurn({ text: 'Hello.', usage }))
    const terminal = await chat(at)
    terminal.type('Hi\r')
    await terminal.until(prompt)
    await terminal.until('Hello.')
    const second = new ChatTerminal(['--resume'], at)
    expect(await second.ended).toMatchObject({ exitCode: 1 })
    expect(second.screen.text).toMatch(/is open in process \d+/)
  })

  it('asks before a command runs, and does what is answered', async () => {
    const at = await place(inTurn(bash('touch one'), bash('touch two', 'call_2'), { text: 'That is all.', usage }))
    const terminal = await chat(at)
    terminal.type('Make two files.\r')
    await terminal.until(
      /bash asks \(runs a command in your project\)\n {2}touch one\n[^]*c commands that begin "touch one"[^]*Enter:\sno\n\?$/,
    )
    terminal.type('\r')
    await terminal.until(/touch one declined[^]*touch two\n[^]*Enter:\sno\n\?$/)
    expect(existsSync(join(at.in, 'one'))).toBe(false)
    terminal.type('/permissions\r')
    await terminal.until(/› \/permissions\nTools that write or run: ask[^]*Enter:\sno\n\?$/)
    terminal.type('y\r')
    await terminal.until(/That is all\.[^]*\n\n›$/)
    expect([existsSync(join(at.in, 'one')), existsSync(join(at.in, 'two'))]).toEqual([false, true])
    expect(terminal.screen.text).toContain('  [bash] touch two (0 lines)')
  })

  it('shows no control codes of a call that asks', async () => {
    const at = await place(inTurn(bash('echo \u001b[2K\u001b[1A\u202e safe'), { text: 'Fine.', usage }))
    const terminal = await chat(at)
    terminal.type('Trick me.\r')
    await terminal.until('echo ^[[2K^[[1A<U+202E> safe')
    terminal.type('n that is no command\r')
    await terminal.until('Fine.')
    expect(conversation(at.server.requests[1] as Received).at(-1)).toContain('user declined: that is no command')
  })

  it('does not ask again where the user said yes for this chat, and forgets it in a new one', async () => {
    const at = await place(
      inTurn(bash('touch one'), bash('touch two', 'call_2'), { text: 'Both.', usage }, bash('true', 'c3')),
    )
    const terminal = await chat(at)
    terminal.type('Make two files.\r')
    await terminal.until(/Enter:\sno\n\?$/)
    terminal.type('a\r')
    await terminal.until(/Both\.[^]*\n\n›$/)
    terminal.type('/new\r')
    await terminal.until('A new chat.')
    terminal.type('And again.\r')
    await terminal.until(/bash asks[^]*\n {2}true\n[^]*Enter:\sno\n\?$/)
    expect(conversation(at.server.requests[3] as Received)).toEqual([expect.stringContaining('And again.')])
  })

  it('does not ask in later chats of the folder where the answer was always, but about another command', async () => {
    const at = await place(
      inTurn(bash('touch one'), { text: 'Made.', usage }, bash('touch one two', 'c2'), bash('touch three', 'c3')),
    )
    const terminal = await chat(at, [], { columns: 120 })
    terminal.type('Make a file.\r')
    await terminal.until(/always like c, in all chats of this folder[^]*Enter:\sno\n\?$/)
    terminal.type('always\r')
    await terminal.until(/written into \S+config\.json: permissions\.bash[^]*Made\.[^]*\n\n›$/)
    terminal.type('\u0004')
    await terminal.ended
    const config: unknown = JSON.parse(await readFile(join(at.in, '.entia-home/config/config.json'), 'utf8'))
    expect(config).toEqual({
      permissions: { bash: { allow: [{ command: 'touch one', places: ['project'], folder: at.in }] } },
    })
    const later = await chat(at)
    later.type('/permissions\r')
    await later.until('bash: allow "touch one" and operands behind it, in: project, by the settings')
    later.type('And more.\r')
    await later.until(/bash asks[^]*\n {2}touch three\n[^]*Enter:\sno\n\?$/)
    expect(existsSync(join(at.in, 'two'))).toBe(true)
    expect(later.screen.text).not.toMatch(/bash asks[^]*touch one two\n/)
  })

  it('changes nothing in plan mode until the plan is approved', async () => {
    const plan = { id: 'c2', name: 'exit_plan_mode', arguments: JSON.stringify({ plan: '1. Make the file' }) }
    const at = await place(
      inTurn(bash('touch one'), { toolCalls: [plan], usage }, bash('touch two', 'c3'), { text: 'Made.', usage }),
    )
    const terminal = await chat(at, ['--plan', '--allow', 'bash'])
    await terminal.until('plan mode')
    terminal.type('Make a file.\r')
    await terminal.until(
      /touch one deny: plan mode[^]*exit_plan_mode asks: may it carry out this plan\?\n {2}1\. Make the file[^]*Enter:\sno\n\?$/,
    )
    terminal.type('y\r')
    await terminal.until(/Made\.[^]*\n\n›$/)
    expect([existsSync(join(at.in, 'one')), existsSync(join(at.in, 'two'))]).toEqual([false, true])
  })

  it('that is killed in the middle of a command goes on with --resume, and runs the command once', async () => {
    const at = await place(inTurn(bash('echo run >> runs; sleep 60'), { text: 'Here again.', usage }))
    const terminal = await chat(at, ['--allow', 'bash'])
    terminal.type('Wait.\r')
    await expect.poll(() => readFile(join(at.in, 'runs'), 'utf8').catch(() => '')).toBe('run\n')
    terminal.kill()
    await terminal.ended
    const resumed = await chat(at, ['--resume'])
    await resumed.until(
      /The turn was interrupted during bash echo run >> runs; sleep 60\.[^]*I run it\.\n\n[^]*\[bash\][^]*Here again\.[^]*\n\n›$/,
    )
    expect(await readFile(join(at.in, 'runs'), 'utf8')).toBe('run\n')
    expect(conversation(at.server.requests[1] as Received).at(-1)).toMatch(/interrupted|may have taken effect/)
  })

  it('that is killed at a question asks it again', async () => {
    const at = await place(inTurn(bash('touch one'), { text: 'Made.', usage }))
    const terminal = await chat(at)
    terminal.type('Make it.\r')
    await terminal.until(/Enter:\sno\n\?$/)
    terminal.kill()
    await terminal.ended
    const resumed = await chat(at, ['--resume'])
    // What was said comes first, once, and the question last.
    await resumed.until(
      /› Make it\.\nThe turn waits for your answer\.\n\nI run it\.\n\nbash asks[^]*touch one\n[^]*Enter:\sno\n\?$/,
    )
    resumed.type('y\r')
    await resumed.until(/Made\.[^]*\n\n›$/)
    expect(existsSync(join(at.in, 'one'))).toBe(true)
    expect(resumed.screen.text).not.toContain('interrupted')
    expect(resumed.screen.text.match(/I run it\./g)).toHaveLength(1)
  })

  it('that goes on answers once what is typed while its last messages are shown', async () => {
    const at = await place(inTurn({ text: 'One.', usage }, { text: 'Two.', usage }))
    const terminal = await chat(at)
    terminal.type('Hi\r')
    await terminal.until(/One\.[^]*›$/)
    terminal.type('\u0004')
    await terminal.ended
    const resumed = new ChatTerminal(['--resume'], at)
    await resumed.until('goes on.')
    resumed.type('And?\r')
    await resumed.until(/› Hi\n\nOne\.\n\n› And\?\n\nTwo\.\n\n1 step[^\n]*\n\n›$/)
    expect(resumed.screen.text).not.toContain('interrupted')
  })

  it('offers the later of two chats of its folder first', async () => {
    const at = await place((received) => ({
      text: conversation(received).join().includes('First') ? 'One.' : 'Two.',
      usage,
    }))
    for (const words of ['First', 'Second']) {
      const terminal = await chat(at)
      terminal.type(`${words}\r`)
      await terminal.until(words === 'First' ? 'One.' : 'Two.')
      terminal.type('\u0004')
      await terminal.ended
    }
    const resumed = new ChatTerminal(['--resume'], at)
    await resumed.until('Which chat?')
    resumed.type('\r')
    await resumed.until(/› Second\n\nTwo\.\n\n›$/)
    expect(resumed.screen.text).not.toContain('First')
  })

  it('offers what was typed in an earlier chat, and stores none in which nothing was said', async () => {
    const at = await place(inTurn({ text: 'Yes.', usage }))
    const first = await chat(at)
    first.type('Is anyone there?\r')
    await first.until(/Yes\.[^]*\n\n›$/)
    first.type('\u0004')
    await first.ended
    const second = await chat(at)
    second.type('\u001b[A')
    await second.until(/› Is anyone there\?$/)
    second.type('\u0003\u0004')
    await second.ended
    const list = new ChatTerminal(['sessions', 'list'], { ...at, columns: 120 })
    await list.ended
    expect(list.screen.lines).toEqual([expect.stringMatching(/^\d{8}-\S+ .* Is anyone there\?$/)])
  })

  it('sends a file along that is named by @ and Tab', async () => {
    const at = await place(inTurn({ text: 'Read.', usage }))
    const terminal = await chat(at)
    terminal.type('Read @no\t')
    await terminal.until(/› Read @notes\.md$/)
    terminal.type('\r')
    await terminal.until('Read.')
    expect(conversation(at.server.requests[0] as Received).at(-1)).toContain('Bees sleep at night.')
  })

  it('shows what the model thinks with --verbose', async () => {
    const thinking = { text: 'It is about bees.', seal: 'seal' }
    const at = await place(inTurn({ thinking, text: 'Bees.', usage }))
    const terminal = await chat(at, ['--verbose'])
    terminal.type('What is it about?\r')
    await terminal.until(/\n\n›$/)
    await terminal.until('1 step')
    expect(terminal.screen.text).toContain('It is about bees.\n\nBees.\n\n1 step')
  })

  it.for([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    'on %s stops what runs, leaves the turn open, and --resume goes on with it',
    async ([signal, exitCode]) => {
      const at = await place(inTurn(bash(`touch begun; sleep 86.4; touch late`), { text: 'It may have run.', usage }))
      const terminal = await chat(at, ['--allow', 'bash'])
      terminal.type('Run it.\r')
      await vi.waitFor(() => expect(existsSync(join(at.in, 'begun'))).toBe(true), 20_000)
      terminal.kill(signal)
      expect(await terminal.ended).toMatchObject({ exitCode })
      await vi.waitFor(() => expect(processesWith('sleep 86.4')).toEqual([]), 10_000)
      const resumed = await chat(at, ['--resume'])
      await resumed.until('The turn was interrupted during bash')
      await resumed.until('It may have run.')
      expect(existsSync(join(at.in, 'late'))).toBe(false)
    },
  )

  it('goes on with --resume after its terminal was closed while the model was answering', async () => {
    let asked = 0
    const at = await place(() => (asked++ === 0 ? new Promise(() => undefined) : { text: 'Bees.', usage }))
    const terminal = await chat(at)
    terminal.type('Think.\r')
    await terminal.until('thinking')
    terminal.hangUp()
    await terminal.ended
    const resumed = await chat(at, ['--resume'])
    await resumed.until('The turn was interrupted, and goes on.')
    await resumed.until('Bees.')
    expect(resumed.screen.text).not.toContain('[turn cancelled]')
  })

  it('puts what was typed and not read back into the line when Ctrl-C cancels the turn', async () => {
    const at = await place(inTurn(bash('touch begun; sleep 86.3'), { text: 'Read.', usage }))
    const terminal = await chat(at, ['--allow', 'bash'])
    terminal.type('Run it.\r')
    await vi.waitFor(() => expect(existsSync(join(at.in, 'begun'))).toBe(true), 20_000)
    terminal.type('And then\r')
    await terminal.until(/^ {2}› And then$/m)
    terminal.type('this.\r')
    await terminal.until(/^ {2}› this\.$/m)
    terminal.type('now \u0003')
    await terminal.until(/\[turn cancelled\]\n1 step[^\n]*\n\n› And then\n {2}this\.\n {2}now$/)
    expect(terminal.screen.text).not.toMatch(/^› (?:And then|this\.)\n\n/m)
    terminal.type('\r')
    await terminal.until('Read.')
    const said = conversation(at.server.requests[1] as Received)
    expect(said.filter((message) => message.includes('And then'))).toEqual([
      expect.stringContaining('And then\\nthis.\\nnow'),
    ])
    expect(said.join('\n')).toContain('[cancelled by the user; it may have taken effect]')
  })
})
