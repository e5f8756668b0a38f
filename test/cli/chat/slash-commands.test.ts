import { describe, expect, it } from 'vitest'
import { slashHelp, typedLine } from '../../../src/cli/chat/slash-commands.ts'

describe('a typed line', () => {
  it.for<[string, object]>([
    ['Fix the test', { kind: 'message', text: 'Fix the test' }],
    ['/stats', { kind: 'command', name: 'stats', rest: '' }],
    ['/compact keep  the paths ', { kind: 'command', name: 'compact', rest: 'keep  the paths' }],
    ['/exit', { kind: 'command', name: 'quit', rest: '' }],
    ['/q', { kind: 'command', name: 'quit', rest: '' }],
    ['//stats', { kind: 'message', text: '/stats' }],
    ['/etc/hosts is wrong', { kind: 'message', text: '/etc/hosts is wrong' }],
    ['/', { kind: 'message', text: '/' }],
  ])('%j is %j', ([line, expected]) => {
    expect(typedLine(line)).toEqual(expected)
  })

  it('with an unknown command is not sent, and names the nearest one', () => {
    expect(typedLine('/sttats')).toEqual({
      kind: 'unknown',
      advice: 'There is no command /sttats. Did you mean /stats? /help lists them; //sttats sends it as text.',
    })
    expect(typedLine('/frobnicate now')).toMatchObject({ kind: 'unknown' })
  })
})

describe('/help', () => {
  it('has a line for each command, with its other names', () => {
    expect(slashHelp()).toContain('/quit                               leave (also /exit, /q, Ctrl-D)')
  })
})
