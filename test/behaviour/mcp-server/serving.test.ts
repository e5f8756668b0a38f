import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../src/index.ts'
import { serve, type ServeOptions } from '../../../src/doors/mcp/index.ts'
import type { ToolCallEvent } from '../../../src/runtime/index.ts'
import { committed } from '../../runtime/tools/repositories.ts'
import { skillText } from '../../runtime/skills/skills-on-disk.ts'
import { addFiles } from '../../tools/temp-folder.ts'
import { called, clientOf, type Era, eras, project, served } from './served.ts'

/** A tool that runs until it is called off. */
function endless() {
  const begun = Promise.withResolvers<void>()
  const calledOff = Promise.withResolvers<void>()
  const tool = defineTool({
    name: 'wait',
    description: 'Waits.',
    input: z.object({}),
    restart: 'pure',
    operation: 'read',
    run: async (_, { signal }) => {
      signal.addEventListener('abort', () => calledOff.resolve())
      begun.resolve()
      await calledOff.promise
    },
  })
  return { tool, begun: begun.promise, calledOff: calledOff.promise }
}

describe('a server on HTTP', () => {
  it('gives clients of both eras the same tools and the same text', async () => {
    const at = await project()
    await writeFile(join(at.cwd, 'a.txt'), 'one\ntwo\n')
    const { url } = await served(at, { tools: ['core'] })
    const seen = await Promise.all(
      eras.map(async (era) => {
        const client = await clientOf(url, era)
        const { tools } = await client.listTools()
        return { tools: tools.map(({ name }) => name), text: await called(client, 'read_file', { path: 'a.txt' }) }
      }),
    )
    expect(seen[0]?.text).toBe('1\tone\n2\ttwo')
    expect(seen[0]?.tools).toContain('bash')
    expect(seen[1]).toEqual(seen[0])
  })

  it('says of a tool what it does to the outside', async () => {
    const at = await project()
    const { url } = await served(at, { tools: ['read_file', 'write_file', 'fetch_url'] })
    const { tools } = await (await clientOf(url, '2026-07-28')).listTools()
    expect(Object.fromEntries(tools.map(({ annotations, name }) => [name, annotations]))).toEqual({
      read_file: { readOnlyHint: true, openWorldHint: false },
      write_file: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
      fetch_url: { readOnlyHint: true, openWorldHint: true },
    })
  })

  it('offers what tool packages bring, and the skills of a project', async () => {
    const at = await project()
    const declaration = {
      name: 'roll_back',
      description: 'Rolls back.',
      inputSchema: { type: 'object' },
      restart: 'once',
    }
    const tool = `{ declaration: ${JSON.stringify(declaration)}, call: () => ({ content: [{ type: 'text', text: 'rolled' }] }) }`
    await addFiles(at.home, {
      'config/config.json': '{ "toolPackages": ["deploy"] }',
      'config/node_modules/deploy/package.json':
        '{ "name": "x", "type": "module", "entia": { "tools": "./tools.js" } }',
      'config/node_modules/deploy/tools.js': `export default [${tool}]`,
      'app/.entia/skills/releasing/SKILL.md': skillText('releasing'),
    })
    const { url } = await served(at, { tools: ['deploy', 'skill'], allow: ['roll_back'] })
    const client = await clientOf(url, '2026-07-28')
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['roll_back', 'skill'])
    expect(await called(client, 'roll_back')).toBe('rolled')
    expect(await called(client, 'skill', { name: 'releasing' })).toContain('How to do releasing.')
    expect(client.getInstructions()).toContain('releasing: Does releasing.')
  })

  it('tells a client of a tool that it does not have, and a model of arguments that are wrong', async () => {
    const at = await project()
    const client = await clientOf((await served(at, { tools: ['read_file'] })).url, '2026-07-28')
    await expect(called(client, 'bash', { command: 'id' })).rejects.toThrow('Tool bash not found')
    expect(await called(client, 'read_file', { pth: 'a' })).toBe(
      "Error: Invalid arguments for 'read_file': path: expected string, received undefined; pth: no such field is known",
    )
    expect(await called(client, 'read_file', { path: 'a', pth: 'a' })).toBe(
      "Error: Invalid arguments for 'read_file': pth: no such field is known",
    )
  })

  it('shows each call to its observers, as one of channel mcp', async () => {
    const at = await project()
    const seen: ToolCallEvent[] = []
    const { url } = await served(at, { tools: ['list_files'], observers: [(event) => void seen.push(event)] })
    await called(await clientOf(url, '2026-07-28'), 'list_files')
    expect(seen).toMatchObject([
      { call: { tool: 'list_files', channel: 'mcp' }, outcome: 'ran', success: true, callNumber: 1 },
    ])
  })
})

describe('the yes to a question', () => {
  it('counts for what was asked alone: with other arguments the call is asked about again', async () => {
    const at = await project()
    const { url } = await served(at, { tools: ['write_file'] })
    const asked: string[] = []
    let isChanged = false
    const client = await clientOf(
      url,
      '2026-07-28',
      (message) => {
        asked.push(/"content": "(\w+)"/.exec(message)?.[1] ?? message)
        return { action: 'accept', content: { approve: true } }
      },
      // The first answer comes back with another content to write.
      (to, init) => {
        const body = typeof init?.body === 'string' ? init.body : ''
        if (isChanged || !body.includes('"inputResponses"')) return fetch(to, init)
        isChanged = true
        return fetch(to, { ...init, body: body.replace('"good"', '"evil"') })
      },
    )
    expect(await called(client, 'write_file', { path: 'b.txt', content: 'good' })).toMatch(/^Wrote 4 bytes/)
    expect(asked).toEqual(['good', 'evil', 'good'])
    expect(await readFile(join(at.cwd, 'b.txt'), 'utf8')).toBe('good')
  })
})

describe.for(eras)('a client of %s', (era: Era) => {
  it('is denied what lies outside of the working folder, and credentials, whatever it answers and is allowed', async () => {
    const at = await project()
    await writeFile(join(at.cwd, '.env'), 'KEY=secret')
    const { url } = await served(at, { tools: ['file'], allow: ['read_file'] })
    const client = await clientOf(url, era, () => ({ action: 'accept', content: { approve: true } }))
    expect(await called(client, 'read_file', { path: '/etc/hosts' })).toBe(
      '[entia policy denied: outside the working folder: /etc/hosts]',
    )
    expect(await called(client, 'read_file', { path: '.env' })).toBe('[entia policy denied: credential path: .env]')
  })

  it('gets of a search and of git no more than it may read itself', async () => {
    const at = await project()
    await addFiles(at.home, {
      'infra/notes.txt': 'one\n',
      'app/.env': 'T=1\n',
      'app/a.txt': 'one\n',
      'app/keys/k.txt': '1\n',
    })
    committed(at.home)
    await addFiles(at.home, {
      ...{
        'infra/notes.txt': 'needle\n',
        'app/.env': 'T=needle\n',
        'app/a.txt': 'two\n',
        'app/keys/k.txt': 'needle\n',
      },
      'config/config.json': JSON.stringify({ deniedPaths: ['~/app/keys'] }),
    })
    const { url } = await served(at, { tools: ['file', 'git'] })
    const client = await clientOf(url, '2026-07-28')
    const notes = '[1 credential files skipped]\n[1 denied paths skipped]'
    const outside = '[1 files outside of the working folder skipped]'
    expect(await called(client, 'git_diff')).toMatch(/^diff --git a\/app\/a.txt [^]*\+two\n\[/)
    for (const name of ['git_diff', 'git_status']) {
      const text = await called(client, name)
      expect(text).not.toContain('needle')
      expect(text.endsWith(`\n${notes}\n${outside}`)).toBe(true)
    }
    for (const ref of ['HEAD:app/.env', 'HEAD:./.env', ':app/.env', 'HEAD:infra/notes.txt', 'HEAD:app/keys/k.txt'])
      expect(await called(client, 'git_diff', { ref })).toContain(`${ref} is left out: it is a `)
    expect(await called(client, 'git_diff', { ref: 'HEAD:app' })).toContain('HEAD:app names no commit.')
    expect(await called(client, 'grep_files', { pattern: 'needle' })).toBe(`[no matches]\n${notes}`)
    expect(await called(client, 'list_files', { recursive: true })).toBe('a.txt\n[1 denied paths skipped]')
    expect(await called(client, 'git_diff', { file: '..' })).toMatch(
      /^\[entia policy denied: outside the working folder/,
    )
  })

  it('that offers elicitations is asked, and its yes runs the call', async () => {
    const at = await project()
    const { url } = await served(at, { tools: ['write_file'] })
    const asked: string[] = []
    const client = await clientOf(url, era, (message) => {
      asked.push(message)
      return { action: 'accept', content: { approve: true } }
    })
    expect(await called(client, 'write_file', { path: 'b.txt', content: 'x' })).toMatch(/^Wrote 1 bytes to b\.txt/)
    expect(await readFile(join(at.cwd, 'b.txt'), 'utf8')).toBe('x')
    expect(asked).toEqual([
      'May write_file (writes in your project) run?\n{\n  "content": "x",\n  "path": "b.txt"\n}\nReason: it writes in your project',
    ])
  })

  it.for([
    [{ action: 'accept', content: { approve: false, reason: 'not now' } }, '[user declined: not now]'],
    [{ action: 'decline' }, '[user declined: default: code/write/mcp]'],
    [{ action: 'cancel' }, '[user declined: the question was dismissed]'],
  ] as const)('that answers %o has its call declined', async ([answer, text]) => {
    const at = await project()
    const { url } = await served(at, { tools: ['write_file'] })
    const client = await clientOf(url, era, () => ({ ...answer }))
    expect(await called(client, 'write_file', { path: 'b.txt', content: 'x' })).toBe(text)
    await expect(readFile(join(at.cwd, 'b.txt'))).rejects.toThrow('ENOENT')
  })

  it('that offers no elicitation is declined, unless the tool is allowed', async () => {
    const at = await project()
    const { url } = await served(at, { tools: ['write_file', 'bash'], allow: ['bash'] })
    const client = await clientOf(url, era)
    expect(await called(client, 'write_file', { path: 'b.txt', content: 'x' })).toBe(
      '[user declined: no approval channel (default: code/write/mcp)]',
    )
    expect(await called(client, 'bash', { command: 'echo $((20 + 22))' })).toBe('42')
  })

  it('that calls a call off stops the tool', async () => {
    const at = await project()
    const { begun, calledOff, tool } = endless()
    const client = await clientOf((await served(at, { tools: [tool] })).url, era)
    const controller = new AbortController()
    const call = client.callTool({ name: 'wait', arguments: {} }, { signal: controller.signal })
    await begun
    controller.abort()
    await expect(call).rejects.toThrow('abort')
    await calledOff
  })

  it('hears how far a call is', async () => {
    const at = await project()
    const steps = defineTool({
      name: 'steps',
      description: 'Takes three steps.',
      input: z.object({}),
      restart: 'pure',
      operation: 'read',
      run: (_, { progress }) => {
        for (const fraction of [0, 0.5, 0.25, 1]) progress(`at ${fraction}`, fraction)
      },
    })
    const client = await clientOf((await served(at, { tools: [steps] })).url, era)
    const heard: unknown[] = []
    await client.callTool({ name: 'steps', arguments: {} }, { onprogress: (progress) => void heard.push(progress) })
    expect(heard).toEqual([
      { progress: 0, total: 100, message: 'at 0' },
      { progress: 50, total: 100, message: 'at 0.5' },
      { progress: 100, total: 100, message: 'at 1' },
    ])
  })

  it('gets images, sounds and other files as what they are', async () => {
    const at = await project()
    const data = Buffer.from('data').toString('base64')
    const files = defineTool({
      name: 'files',
      description: 'Gives files.',
      input: z.object({}),
      restart: 'pure',
      operation: 'read',
      run: () => ({
        content: [
          { type: 'file', mediaType: 'image/png', data },
          { type: 'file', mediaType: 'audio/wav', data },
          { type: 'file', mediaType: 'text/csv', data, name: 'a b.csv' },
          { type: 'file', mediaType: 'application/pdf', url: 'https://example.org/a.pdf' },
        ],
      }),
    })
    const client = await clientOf((await served(at, { tools: [files] })).url, era)
    const { content } = await client.callTool({ name: 'files', arguments: {} })
    expect(content).toEqual([
      { type: 'image', mimeType: 'image/png', data },
      { type: 'audio', mimeType: 'audio/wav', data },
      { type: 'resource', resource: { uri: 'file:///a%20b.csv', mimeType: 'text/csv', text: 'data' } },
      {
        type: 'resource_link',
        uri: 'https://example.org/a.pdf',
        name: 'https://example.org/a.pdf',
        mimeType: 'application/pdf',
      },
    ])
  })

  it('loses its calls, which end, when the server is closed', async () => {
    const at = await project()
    const { begun, calledOff, tool } = endless()
    const server = await served(at, { tools: [tool] })
    const client = await clientOf(server.url, era)
    const call = client.callTool({ name: 'wait', arguments: {} })
    call.catch(() => undefined)
    await begun
    await server.close()
    await expect(calledOff).resolves.toBeUndefined()
    await server.closed
  })

  it('is told when too many calls are at work', async () => {
    const at = await project()
    const { begun, tool } = endless()
    const server = await served(at, { tools: [tool], maxCalls: 1 })
    const client = await clientOf(server.url, era)
    client.callTool({ name: 'wait', arguments: {} }).catch(() => undefined)
    await begun
    expect(await called(client, 'wait')).toBe('The server is at work on 1 calls, its limit. Try again later.')
    await server.close()
  })
})

describe('serve', () => {
  it.for([
    [{ port: 70_000 }, /^serve: port must be a port, 0 to 65535, got 70000/],
    [{ token: 'short' }, /^serve: token must be a text of at least 16 printable ASCII characters/],
    [{ tools: ['read_fil'] }, /there is no tool or category 'read_fil'\. Did you mean 'read_file'\?/],
    [{ prot: 1 }, /prot/],
  ] as const)('refuses %o', async ([options, message]) => {
    const at = await project()
    await expect(serve({ port: 0, cwd: at.cwd, env: at.env, ...(options as ServeOptions) })).rejects.toThrow(message)
  })

  it('refuses two tools of one name', async () => {
    const at = await project()
    const { tool } = endless()
    await expect(serve({ port: 0, cwd: at.cwd, env: at.env, tools: [tool, tool] })).rejects.toThrow(
      "serve: two tools are named 'wait'; a client could not tell them apart.",
    )
  })

  it('names the port that another server has', async () => {
    const at = await project()
    const { url } = await served(at, { tools: [] })
    const port = Number(new URL(url).port)
    const second = served(at, { port, tools: [] })
    await expect(second).rejects.toMatchObject({
      code: 'address-in-use',
      message: `serve: port ${port} of 127.0.0.1 is in use by another program. Choose another port, or 0 for any free one.`,
    })
  })
})
