import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectMcp, mcpTools } from 'entia/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { called } from '../../runtime/mcp/misfit.ts'
import { project, served, token } from '../mcp-server/served.ts'

describe('a client and a server of Entia', () => {
  it('speak the newest protocol; what the server asks its person, the client asks its own', async () => {
    const at = await project()
    await writeFile(join(at.cwd, 'a.txt'), 'one\ntwo\n')
    const { url } = await served(at, { tools: ['read_file', 'write_file'] })
    const asked: string[] = []
    const connection = await connectMcp(
      { url, headers: { authorization: `Bearer ${token}` } },
      {
        name: 'entia',
        elicit: async ({ message }) => {
          asked.push(message)
          return { action: asked.length === 1 ? 'decline' : 'accept', content: {} }
        },
      },
    )
    onTestFinished(() => connection.close())
    expect(connection.protocol).toBe('2026-07-28')
    const tools = mcpTools(connection, { trusted: true })
    expect(tools.map(({ declaration }) => [declaration.name, declaration.operation])).toEqual([
      ['entia__read_file', 'read'],
      ['entia__write_file', undefined],
    ])
    expect(await called(tools, 'entia__read_file', { path: 'a.txt' })).toBe('1\tone\n2\ttwo')
    expect(await called(tools, 'entia__write_file', { path: 'b.txt', content: 'x' })).toContain('[user declined')
    expect(asked).toHaveLength(1)
    expect(existsSync(join(at.cwd, 'b.txt'))).toBe(false)
  })
})
