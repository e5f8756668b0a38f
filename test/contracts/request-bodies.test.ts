import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Message, ModelProvider, ModelRequest, ToolDeclaration } from 'entia'
import { anthropic, openai, openaiCompatible } from 'entia/models'
import { onTestFinished, expect, it } from 'vitest'
import { startAnthropicServer } from '../servers/anthropic-server.ts'
import { startChatServer } from '../servers/chat-server.ts'
import type { LoopbackServer } from '../servers/loopback.ts'
import { startResponsesServer } from '../servers/responses-server.ts'
import { call, requestOf, resultOf, userSays, worldSays } from './model-calls.ts'

const root = join(import.meta.dirname, '../..')

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const tools: readonly ToolDeclaration[] = [
  {
    name: 'add',
    description: 'Adds.',
    inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
    restart: 'pure',
    repeatable: true,
  },
]

function calls(provider: string): Message {
  return {
    role: 'assistant',
    content: [
      { type: 'thinking', text: 'Hm.', provider, signature: 'c2lnbmF0dXJl' },
      { type: 'text', text: 'One moment.' },
      { type: 'tool-call', id: 'call-1', name: 'add', arguments: { a: 1 } },
    ],
  }
}

/** Requests that have, together, all that a request can have. */
function requests(provider: string): readonly ModelRequest[] {
  const photo: Message = {
    role: 'user',
    content: [
      { type: 'text', text: 'Look.' },
      { type: 'file', mediaType: 'image/png', data: pixel },
      { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' },
      { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=', name: 'a.pdf' },
    ],
  }
  const shown: Message = {
    ...{ role: 'tool', callId: 'call-1', name: 'add' },
    content: [
      { type: 'text', text: 'Seen.' },
      { type: 'file', mediaType: 'image/png', data: pixel },
    ],
  }
  const asked = [userSays('Add.'), calls(provider)]
  return [
    requestOf(),
    requestOf([photo]),
    requestOf([...asked, resultOf('call-1', '2')], { tools, system: 'Be brief.' }),
    requestOf([...asked, { ...resultOf('call-1', ''), isError: true }, worldSays('News.'), userSays('And?')], {
      tools,
    }),
    requestOf([...asked, shown], { tools, tail: [userSays('# Live state')] }),
    requestOf(undefined, { options: { maxOutputTokens: 4_000, temperature: 0.5 }, isOneShot: true }),
    requestOf(undefined, { options: { maxOutputTokens: 8_000, thinking: 2_000 } }),
    requestOf(undefined, { options: { thinking: 'high' } }),
    requestOf(undefined, {
      outputSchema: {
        type: 'object',
        properties: { ok: { type: 'boolean' } },
        required: ['ok'],
        additionalProperties: false,
      },
    }),
    requestOf([userSays(' '), userSays('Hello \ud83d')], { system: ' ' }),
    requestOf([
      userSays('Add.'),
      { role: 'assistant', content: [{ type: 'thinking', text: 'Hm.', provider, signature: 's' }] },
      userSays('Well?'),
    ]),
  ]
}

interface Wire {
  readonly name: string
  readonly type: string
  readonly from: string
  /** What is sent besides: an older version of the API takes it, or servers that are compatible with it. */
  readonly besides: string
  readonly start: () => Promise<LoopbackServer>
  readonly make: (baseURL: string) => ModelProvider
}

const wires: readonly Wire[] = [
  {
    name: 'anthropic',
    type: 'MessageCreateParamsStreaming',
    from: '@anthropic-ai/sdk/resources/messages',
    besides: 'MessageCreateParamsStreaming & { temperature?: number }',
    start: () => startAnthropicServer(() => ({ text: 'Fine.' })),
    make: (baseURL) => anthropic({ baseURL, apiKey: 'key' }),
  },
  {
    name: 'openai',
    type: 'ResponseCreateParamsStreaming',
    from: 'openai/resources/responses/responses',
    besides: 'ResponseCreateParamsStreaming',
    start: () => startResponsesServer(() => ({ text: 'Fine.' })),
    make: (baseURL) => openai({ baseURL, apiKey: 'key' }),
  },
  {
    name: 'local',
    type: 'ChatCompletionCreateParamsStreaming',
    from: 'openai/resources/chat/completions',
    besides:
      "Omit<ChatCompletionCreateParamsStreaming, 'messages'> & " +
      "{ messages: (ChatCompletionCreateParamsStreaming['messages'][number] & { reasoning_content?: string })[] }",
    start: () => startChatServer(() => ({ text: 'Fine.' })),
    make: (baseURL) => openaiCompatible({ name: 'local', baseURL, apiKey: 'key' }),
  },
]

/** What the compiler says of bodies that a server got, as the SDK's own type has them. */
async function complaints(files: Readonly<Record<string, string>>): Promise<string> {
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  // Below the project, so that the SDKs are found.
  const folder = await mkdtemp(join(cache, 'bodies-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, target: 'es2024', lib: ['es2024', 'dom'], types: ['node'] },
    ...{ module: 'nodenext', exactOptionalPropertyTypes: true },
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(files) }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const tsc = join(root, 'node_modules/.bin/tsc')
  return promisify(execFile)(process.execPath, [tsc, '-p', folder]).then(
    () => '',
    (error: unknown) => (error as { readonly stdout: string }).stdout,
  )
}

it('a request is, on every wire, what the SDK itself takes for one', { timeout: 60_000 }, async () => {
  const files: Record<string, string> = {}
  for (const { name, type, from, besides, start, make } of wires) {
    const server = await start()
    onTestFinished(() => server.close())
    for (const request of requests(name)) {
      const { outcome } = await call(make(server.url), request)
      expect(outcome.ok, JSON.stringify(outcome)).toBe(true)
    }
    const bodies = server.requests.map(({ text }, index) => `export const body${index}: Body = ${text}`)
    files[`${name}.ts`] = [`import type { ${type} } from '${from}'`, `type Body = ${besides}`, ...bodies].join('\n')
  }
  expect(
    Object.values(files)
      .join('\n')
      .match(/export const/g),
  ).toHaveLength(33)
  expect(await complaints(files)).toBe('')
  // That it says something at all.
  const wrong = `import type { ${wires[0]?.type} } from '${wires[0]?.from}'\nexport const body: ${wires[0]?.type} = { model: 1 }`
  expect(await complaints({ 'wrong.ts': wrong })).toContain('wrong.ts')
})
