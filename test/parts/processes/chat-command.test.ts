import { describe, expect, it } from 'vitest'
import { chatArguments, chatHelp, runArguments, runHelp } from '../../../src/cli/chat/chat-arguments.ts'
import { UsageError } from '../../../src/cli/parsed-words.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { run } from '../../cli/program.ts'

const nothing = {
  ...{ provider: undefined, model: undefined, tools: undefined, maxSteps: undefined, cwd: undefined },
  ...{ resume: undefined, plan: false, allow: [], verbose: false, inspect: false, help: false },
}

describe('the arguments of a chat', () => {
  it.for<[string[], object]>([
    [[], {}],
    [['--resume'], { resume: '' }],
    [['--resume', '2026', '--plan'], { resume: '2026', plan: true }],
    [['--resume=2026'], { resume: '2026' }],
    [['--resume', '--verbose'], { resume: '', verbose: true }],
    [['--tools', 'file, git', '--tools=bash'], { tools: ['file', 'git', 'bash'] }],
    [['--allow', 'bash,write_file', '--max-steps', '5'], { allow: ['bash', 'write_file'], maxSteps: 5 }],
  ])('%j', ([words, expected]) => {
    expect(chatArguments(words)).toEqual({ ...nothing, ...expected })
  })

  it.for<[string[], string]>([
    [['fix', 'it'], 'entia chat takes no prompt. Type it in the chat, or run entia -p "fix it".'],
    [['--max-steps', '0'], '--max-steps must be an integer ≥ 1, got 0.'],
    [['--model', ' '], '--model must not be empty.'],
    [['--question', 'x'], 'There is no option --question.'],
    [['--modle', 'x'], 'There is no option --modle. Did you mean --model?'],
    [['--model', '--plan'], '--model needs a value. Write one that begins with a dash behind =.'],
    [['--plan=yes'], '--plan takes no value.'],
  ])('refuse %j', ([words, message]) => {
    expect(() => chatArguments(words)).toThrow(new UsageError(message))
  })
})

describe('the arguments of a run', () => {
  it.for<[string[], object]>([
    [['-p', 'Fix it'], { prompt: 'Fix it' }],
    [['Fix', 'it', '--output', 'json'], { prompt: 'Fix it', output: 'json' }],
    [['-p', '-'], { prompt: '-' }],
    [['--resume', 'And now?'], { resume: '', prompt: 'And now?' }],
    [['-p', 'And now?', '--resume', '2026'], { resume: '2026', prompt: 'And now?' }],
    [['--resume', 'latest', '-p', 'And now?'], { resume: 'latest', prompt: 'And now?' }],
    [['--resume', '20261123-1600', 'And now?'], { resume: '20261123-1600', prompt: 'And now?' }],
    [['--resume', '20261123-160000-abcd'], { resume: '20261123-160000-abcd' }],
    [['--resume', '2026', 'was', 'it?'], { resume: '', prompt: '2026 was it?' }],
    [['--resume=2026', '--', '--dashes'], { resume: '2026', prompt: '--dashes' }],
  ])('%j', ([words, expected]) => {
    expect(runArguments(words)).toEqual({ ...nothing, prompt: undefined, output: 'text', ...expected })
  })

  it.for<[string[], string]>([
    [['-p', 'one', 'two'], '-p has a prompt already, and there is more: two. Put it in quotes.'],
    [['-p', 'x', '--output', 'xml'], '--output must be text, json, stream-json, got xml.'],
    [['-p', ' '], 'The prompt must not be empty.'],
    [['-p'], '-p, --print needs a value.'],
  ])('refuse %j', ([words, message]) => {
    expect(() => runArguments(words)).toThrow(new UsageError(message))
  })
})

describe('entia without a terminal', () => {
  it('does not chat, and names -p', async () => {
    const ended = await run([], { in: await tempFolder() })
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toBe(
      'entia: entia chat needs a terminal. Without one, give it a prompt: entia -p "What is this project?" See entia --help.\n',
    )
  })

  it('says how to get a model if there is no key for one', async () => {
    const here = await tempFolder()
    const ended = await run(['-p', 'Hello'], { in: here, env: { ENTIA_DATA_DIR: here } })
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(/^entia: ANTHROPIC_API_KEY is not set\. Set it, or choose another provider\.\n/)
    expect(ended.stderr).toContain('ollama pull gpt-oss:20b')
  })

  it('refuses a configuration with a wrong key, and says where it is', async () => {
    const here = await tempFolder({ 'config/config.json': '{\n  // how far\n  "maxStep": 5\n}\n' })
    const env = { ENTIA_DATA_DIR: here, ENTIA_CONFIG_DIR: `${here}/config`, ANTHROPIC_API_KEY: 'key' }
    const ended = await run(['-p', 'Hello'], { in: here, env })
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(/config\/config\.json:3:3: .*maxStep.*maxSteps/)
  })

  it('refuses a folder that is not there', async () => {
    const here = await tempFolder({ file: '' })
    const env = { ENTIA_DATA_DIR: here, ANTHROPIC_API_KEY: 'key' }
    for (const folder of ['none', 'file']) {
      expect(await run(['-p', 'Hello', '--cwd', folder], { in: here, env })).toMatchObject({
        ...{
          code: 2,
          stdout: '',
          stderr: `entia: --cwd must be a folder; ${here}/${folder} is none. See entia run --help.\n`,
        },
      })
    }
  })

  it('takes an empty HOME for none', async () => {
    const here = await tempFolder()
    const env = { ENTIA_DATA_DIR: here, ANTHROPIC_API_KEY: 'key', HOME: '' }
    // Were the home folder missing, the tools would be refused before the option.
    const ended = await run(['-p', 'Hello', '--allow', 'bsh'], { in: here, env })
    expect(ended.stderr).toMatch(/^entia: --allow names the tool 'bsh'/)
  })

  it('names the command that lists chats, where a key is none of theirs', async () => {
    const here = await tempFolder()
    expect(await run(['sessions', 'show', 'none'], { in: here, env: { ENTIA_DATA_DIR: here } })).toMatchObject({
      code: 2,
      stderr: "entia: There is no chat session whose key begins with 'none'. entia sessions list --all shows them.\n",
    })
  })

  it('says which folder it cannot write, and how to name another', async () => {
    const here = await tempFolder({ data: 'a file' })
    for (const folder of [`${here}/data`, '/proc/none/data']) {
      const env = { ENTIA_DATA_DIR: folder, ANTHROPIC_API_KEY: 'key' }
      const ended = await run(['-p', 'Hello'], { in: here, env })
      expect(ended).toMatchObject({ code: 1, stdout: '' })
      expect(ended.stderr).toMatch(/^entia: .*\/data\/sessions.* ENTIA_DATA_DIR[^\n]*\n$/)
    }
  })

  it('names a known command for one that it does not know, and -p for a prompt', async () => {
    const here = await tempFolder()
    expect((await run(['sesions'], { in: here })).stderr).toMatch(
      /^entia: There is no command 'sesions'\. Did you mean 'sessions'\?/,
    )
    expect((await run(['explain'], { in: here })).stderr).toMatch(/For a prompt: entia -p "explain"\./)
  })

  it.for<[string[], string]>([
    [['--help'], chatHelp],
    [['chat', '-h'], chatHelp],
    [['-h'], chatHelp],
    [['run', '--help'], runHelp],
    [['-p', 'x', '--help'], runHelp],
  ])('helps with %j, on a small terminal too', async ([words, text]) => {
    expect(await run(words, { in: await tempFolder() })).toMatchObject({ code: 0, stdout: text })
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })
})
