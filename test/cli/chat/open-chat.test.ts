import { describe, expect, it, onTestFinished } from 'vitest'
import { chatArguments } from '../../../src/cli/chat/chat-arguments.ts'
import { openChat } from '../../../src/cli/chat/open-chat.ts'
import { startOllama } from '../../servers/ollama-server.ts'
import { UsageError } from '../../../src/cli/parsed-words.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

/** The model that a chat begins with, and what is said of it. */
async function opened(words: readonly string[], environment: NodeJS.ProcessEnv, files: Record<string, string> = {}) {
  const folder = await tempFolder(files)
  const notices: string[] = []
  const here = { ENTIA_CONFIG_DIR: `${folder}/config`, ENTIA_DATA_DIR: `${folder}/data`, HOME: folder }
  const session = await openChat({
    args: chatArguments(words),
    cwd: folder,
    environment: { ...here, OLLAMA_HOST: (await startOllama({ models: [] })).url, ...environment },
    onNotice: (notice) => notices.push(notice),
  })
  onTestFinished(() => session.close())
  return { model: `${session.provider}/${session.model}`, notices, session }
}

describe('the model of a chat for which nobody named one', () => {
  it('is of Anthropic where its key is set, of OpenAI where only that is, and says so', async () => {
    const both = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b' }
    expect(await opened([], both)).toMatchObject({ model: expect.stringMatching(/^anthropic\//), notices: [] })
    expect(await opened([], { OPENAI_API_KEY: 'b' })).toMatchObject({
      model: expect.stringMatching(/^openai\//),
      notices: ['ANTHROPIC_API_KEY is not set; using openai.'],
    })
  })

  it('is a local one where there is no key', async () => {
    const { url: OLLAMA_HOST } = await startOllama({ models: ['llama3.3:latest', 'gpt-oss:20b'] })
    expect(await opened([], { OLLAMA_HOST })).toMatchObject({
      model: 'ollama/gpt-oss:20b',
      notices: ['ANTHROPIC_API_KEY is not set; using ollama/gpt-oss:20b.'],
    })
  })

  it('is none where there is neither, and where a provider without its key was named or configured', async () => {
    const { url: OLLAMA_HOST } = await startOllama({ models: ['gpt-oss:20b'] })
    const missing = { code: 'missing-api-key' }
    await expect(opened([], {})).rejects.toMatchObject(missing)
    await expect(opened(['--provider', 'moonshot'], { OLLAMA_HOST })).rejects.toMatchObject(missing)
    const files = { 'config/config.json': '{ "provider": "anthropic" }' }
    await expect(opened([], { OLLAMA_HOST, OPENAI_API_KEY: 'b' }, files)).rejects.toMatchObject(missing)
  })
})

describe('a local model that is not installed', () => {
  it('is refused before anything is asked of it, with the command that installs it', async () => {
    const { url: OLLAMA_HOST, requests } = await startOllama({ models: ['llama3.3:latest'] })
    await expect(opened(['--provider', 'ollama'], { OLLAMA_HOST })).rejects.toThrow(
      new UsageError(
        'Ollama has no model gpt-oss:20b. Install it with: ollama pull gpt-oss:20b. It has llama3.3:latest.',
      ),
    )
    expect(requests).toEqual(['GET /api/tags'])
    expect(await opened(['--model', 'ollama/llama3.3'], { OLLAMA_HOST })).toMatchObject({ model: 'ollama/llama3.3' })
    await expect(opened(['--model', 'ollama/none'], {})).rejects.toThrow('It has no model yet.')
  })

  it('is not known to be missing where Ollama is not there', async () => {
    const OLLAMA_HOST = '127.0.0.1:1'
    expect(await opened(['--provider', 'ollama'], { OLLAMA_HOST })).toMatchObject({ model: 'ollama/gpt-oss:20b' })
  })
})

describe('the command line of a chat', () => {
  it('allows only tools that there are', async () => {
    const message = "--allow names the tool 'bsh', which this chat does not have. Did you mean 'bash'?"
    await expect(opened(['--allow', 'git_log,bsh'], { ANTHROPIC_API_KEY: 'a' })).rejects.toThrow(
      new UsageError(message),
    )
  })

  it('counts over the configuration', async () => {
    const files = { 'config/config.json': '{ "provider": "openai", "model": "small", "maxSteps": 7 }' }
    const words = ['--provider', 'anthropic', '--model', 'large', '--tools', 'git', '--plan']
    const { model, session } = await opened(words, { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b' }, files)
    expect([model, session.planMode]).toEqual(['anthropic/large', true])
  })
})
