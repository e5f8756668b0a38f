import { builtinTools } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../transcript.ts'
import { call, homeWith, judged, settledCalls, steps } from './judged-agent.ts'

const tools = builtinTools({ cwd: '.', tools: ['chat'] })

describe('chat', () => {
  it('runs unasked, and asks as personal once a call has touched personal data', async () => {
    const home = await homeWith({ 'Documents/a': 'private' })
    const asked: unknown[] = []
    const behaviour = steps(
      [call('chat', { prompt: 'First?' })],
      [call('read_file', { path: '~/Documents/a' })],
      [call('chat', { prompt: 'Second?' })],
    )
    const run = judged({
      home,
      tools,
      behaviour: (request, context) => (request.tools.length === 0 ? 'An answer.' : behaviour(request, context)),
      approve: ({ dataClass, decision, tool }) => asked.push([tool, dataClass, decision?.reason]) < 0,
    })
    await run.settle()
    expect(transcript(run.world, run.agent)[2]).toBe('tool call-1-0: An answer.')
    expect(asked).toEqual([
      ['read_file', 'personal', 'default: personal/read/cli'],
      ['chat', 'personal', 'default: personal/read/cli'],
    ])
    expect(settledCalls(run).map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['chat', 'ran'],
      ['read_file', 'declined'],
      ['chat', 'declined'],
    ])
  })

  it('sends personal data to the local model alone where that is enforced', async () => {
    const home = await homeWith({ 'Documents/a': 'private' })
    const behaviour = steps(
      [call('read_file', { path: '~/Documents/a' })],
      [call('chat', { prompt: 'Second?', model: 'cloud' })],
    )
    const run = judged({
      home,
      tools,
      config: { routing: 'enforce', localModel: 'scripted/local' },
      behaviour: (request, context) => (request.tools.length === 0 ? 'An answer.' : behaviour(request, context)),
      approve: () => true,
    })
    await run.settle()
    expect(run.requests.filter((request) => request.tools.length === 0).map(({ model }) => model)).toEqual(['local'])
  })
})
