import { join } from 'node:path'
import { defineTool, type Tool } from 'entia'
import { anthropic, openai } from 'entia/models'
import { sessionSetup, turn } from 'entia/runtime'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { withSearch } from '../../../src/rules/projection/deferred-tools.ts'
import { startAnthropicServer } from '../../servers/anthropic-server.ts'
import { inTurn, type JsonBody } from '../../servers/loopback.ts'
import { startResponsesServer } from '../../servers/responses-server.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

const maxTokens = 2_500

interface Asked {
  readonly provider?: 'anthropic' | 'openai'
  readonly sandbox?: 'auto' | 'off'
  readonly tools?: readonly (string | Tool)[]
}

/** The body of the request that a chat makes for "hello", as if it were in a folder of usual length. */
async function firstRequest({ provider = 'anthropic', sandbox = 'off', tools }: Asked = {}): Promise<JsonBody> {
  const replies = inTurn({ text: 'Hello.', usage: { input: 1, output: 1 } })
  const server = await (provider === 'anthropic' ? startAnthropicServer(replies) : startResponsesServer(replies))
  onTestFinished(() => server.close())
  const cwd = await tempFolder()
  const { url } = server
  const models = {
    anthropic: anthropic({ baseURL: url, apiKey: 'key' }),
    openai: openai({ baseURL: url, apiKey: 'key' }),
  }
  const env = { HOME: cwd, ENTIA_CONFIG_DIR: join(cwd, 'config'), ENTIA_DATA_DIR: join(cwd, 'data') }
  const session = await sessionSetup({ cwd, env, provider, sandbox, host: { models }, tools })
  onTestFinished(() => session.close())
  await turn('hello', session)
  const body = JSON.stringify(server.requests[0]?.body)
  return JSON.parse(body.replaceAll(cwd, '/home/ada/projects/app')) as JsonBody
}

function namesOf({ tools }: JsonBody): string[] {
  return (tools as readonly { readonly name: string }[]).map(({ name }) => name)
}

describe('what a chat sends for "hello"', () => {
  it.for([
    ['anthropic', 'off'],
    ['anthropic', 'auto'],
    ['openai', 'off'],
    ['openai', 'auto'],
  ] as const)(
    'has at most 2,500 tokens as JSON, by the vocabulary o200k and by four characters a token: %s, sandbox %s',
    async ([provider, sandbox]) => {
      const text = JSON.stringify(await firstRequest({ provider, sandbox }))
      expect(encode(text).length).toBeLessThanOrEqual(maxTokens)
      expect(text.length / 4).toBeLessThanOrEqual(maxTokens)
    },
  )

  it('shows the tools that most turns need, and names the others in a search', async () => {
    const body = await firstRequest()
    const names = namesOf(body)
    const needed = ['read_file', 'write_file', 'replace_in_file', 'list_files', 'grep_files', 'bash', 'git_status']
    expect(names).toEqual(expect.arrayContaining([...needed, 'run_js', 'fetch_url', 'spawn_subagent', 'find_tools']))
    expect(names).not.toContain('js_help')
    expect(JSON.stringify(body)).toContain(
      'what they take: shell_output, shell_stop, git_log, js_help, installed_packages, chat, chat_models, query_subagent, ' +
        'collect_subagent, list_subagents, kill_subagent.',
    )
  })

  it('shows what was granted by its own name or category', async () => {
    expect(namesOf(await firstRequest({ tools: ['all', 'js_help'] }))).toContain('js_help')
    const few = namesOf(await firstRequest({ tools: ['js', 'subagent'] }))
    expect(few).toEqual(expect.arrayContaining(['js_help', 'installed_packages', 'collect_subagent']))
    expect(few).not.toContain('find_tools')
  })

  it('has one search, for tools of a program too', async () => {
    const own = defineTool({
      name: 'own',
      description: 'Does it.',
      input: z.object({}),
      restart: 'pure',
      run: () => '',
    })
    const ownSearch = withSearch([{ ...own.declaration, deferred: true }]).map((declaration) => ({
      ...own,
      declaration,
    }))
    const body = await firstRequest({ tools: ['all', ...ownSearch] })
    expect(namesOf(body).filter((name) => /_tools?$/.test(name))).toEqual(['find_tools', 'call_tool'])
    expect(JSON.stringify(body)).toContain('kill_subagent, own.')
  })
})
