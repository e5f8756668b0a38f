import { type ModelRequest, scripted } from 'entia'
import { collectSubagent, querySubagent, sessionSetup, spawnSubagent, turn } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'

/** Declares variables when it is told to compute, and reads `.h_001` when it is told to read. */
const model = scripted(({ messages }: ModelRequest) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return JSON.stringify(last.content)
  const text = JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content)
  const code = 'const x = new Array(100).fill(1); let touched = 0; const y = { get z() { touched++; return 1 } }'
  if (text.includes('Compute')) return { toolCalls: [{ name: 'run_js', arguments: { code } }] }
  if (text.includes('Read')) {
    return { toolCalls: [{ name: 'read_handle', arguments: { handle: '.h_001', op: 'summary' } }] }
  }
  return 'Here.'
})

describe('a value of a subagent', { timeout: 30_000 }, () => {
  it('is kept for its parent by the name of a variable, and nothing is evaluated', async () => {
    const home = await tempFolder({})
    const env = { HOME: home, ENTIA_CONFIG_DIR: `${home}/c`, ENTIA_DATA_DIR: `${home}/d`, PATH: process.env['PATH'] }
    const session = await sessionSetup({
      cwd: home,
      env,
      model: 'script/m',
      host: { models: { script: model } },
      permissions: { run_js: 'allow' },
      approve: () => true,
    })
    onTestFinished(() => session.close())
    const id = await spawnSubagent(session, { task: 'Compute.', preset: 'work', approvals: 'parent' })
    await collectSubagent(session, id, { wait: true })
    const ask = (returnName: string) => querySubagent(session, id, 'Give it.', { returnName })
    expect(await ask('x')).toBe('Here.\n[stored as .h_001]')
    expect((await turn('Read it.', session)).reply).toContain('list of 100 elements: 100 numbers')
    expect(await ask('x.y')).toMatch(/^Here\.\n\[returnName "x\.y": it must be one name or one handle/)
    expect(await ask('nothing')).toMatch(/^Here\.\n\[returnName "nothing": /)
    expect(await ask('y')).toMatch(/^Here\.\n\[returnName "y": /)
    expect(await ask('touched')).toBe('Here.\n[stored as .h_002]')
  })
})
