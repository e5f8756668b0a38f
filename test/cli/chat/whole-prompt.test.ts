import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { pipedText } from '../../../src/cli/chat/whole-prompt.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

function piping(isNeeded: boolean) {
  const input = new PassThrough()
  const told: string[] = []
  const given = pipedText(input, { isNeeded, silenceMs: 20, tell: (notice) => void told.push(notice) })
  return { input, told, given }
}

describe('what is piped in', () => {
  it('is nothing where the pipe stays silent and open, and the user reads that', async () => {
    const { given, input, told } = piping(false)
    await vi.advanceTimersByTimeAsync(20)
    expect(await given).toBe('')
    expect(told).toEqual([expect.stringMatching(/^nothing was piped in for 0\.02 s/)])
    expect(input.destroyed).toBe(true)
  })

  it('is read to its end once it has begun, however slow it is', async () => {
    const { given, input, told } = piping(false)
    input.write('one ')
    await vi.advanceTimersByTimeAsync(60_000)
    input.end('two')
    expect(await given).toBe('one two')
    expect(told).toEqual([])
  })

  it('is waited for where it is the prompt', async () => {
    const { given, input, told } = piping(true)
    await vi.advanceTimersByTimeAsync(60_000)
    input.end('A prompt.')
    expect(await given).toBe('A prompt.')
    expect(told).toEqual(['waiting for the end of the piped input.'])
  })

  it('is nothing where the pipe is closed at once', async () => {
    const { given, input, told } = piping(false)
    input.end()
    expect(await given).toBe('')
    expect(told).toEqual([])
  })
})
