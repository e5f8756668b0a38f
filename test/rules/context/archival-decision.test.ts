import { type Message, user } from 'entia'
import { archivalDecision, type EndedTurnView } from 'entia/context'
import { describe, expect, it } from 'vitest'
import { ArchivalTrigger } from '../../../components/context/archival.ts'
import { estimateTokens, isAtLeast } from '../../../src/rules/tokens/estimate-tokens.ts'

const trigger = ArchivalTrigger().parse({})

function turn(changes: Partial<EndedTurnView> & { readonly trigger?: Partial<typeof trigger> } = {}): EndedTurnView {
  return {
    config: { enabled: true, trigger: { ...trigger, ...changes.trigger } },
    depth: 0,
    estimate: 0,
    latched: false,
    messages: calling(1),
    sessionOver: false,
    stop: 'done',
    ...changes,
  }
}

/** A turn with so many calls, each answered, and a final text. */
function calling(count: number): readonly Message[] {
  const steps = Array.from({ length: count }, (_, index) => [asking(`call-${index}`), answering(`call-${index}`)])
  return [user('Go'), ...steps.flat(), saying('Done.')]
}

function asking(...ids: readonly string[]): Message {
  return { role: 'assistant', content: ids.map((id) => ({ type: 'tool-call', id, name: 'look', arguments: {} })) }
}

function answering(callId: string): Message {
  return { role: 'tool', callId, name: 'look', content: [{ type: 'text', text: 'Seen.' }] }
}

function saying(text: string): Message {
  return { role: 'assistant', content: [{ type: 'text', text }] }
}

describe('a turn that has ended', () => {
  it('at its step limit is archived for that, with one call, and stays if that is no reason', () => {
    expect(archivalDecision(turn({ stop: 'max-steps' }))).toEqual({ archive: true, reason: 'max_turns' })
    const off = turn({ stop: 'max-steps', trigger: { onMaxTurns: false } })
    expect(archivalDecision(off)).toEqual({ archive: false, reason: 'below_thresholds' })
  })

  it('at its step limit is known by how it stopped, and not by what it says', () => {
    const messages = [user('Go'), saying('[Max turns reached]')]
    expect(archivalDecision(turn({ messages }))).toEqual({ archive: false, reason: 'below_thresholds' })
  })

  it('is archived for its calls from the threshold on, one message with several of them too', () => {
    expect(archivalDecision(turn({ messages: calling(4) }))).toEqual({ archive: false, reason: 'below_thresholds' })
    expect(archivalDecision(turn({ messages: calling(5) }))).toEqual({ archive: true, reason: 'tool_calls' })
    const ids = ['a', 'b', 'c', 'd', 'e']
    const messages = [user('Go'), asking(...ids), ...ids.map(answering), saying('Done.')]
    expect(archivalDecision(turn({ messages }))).toEqual({ archive: true, reason: 'tool_calls' })
  })

  it.each([
    ['anthropic', ['server_tool_use', 'mcp_tool_use'], ['web_search_tool_result', 'mcp_tool_result']],
    [
      'openai',
      ['web_search_call', 'code_interpreter_call', 'mcp_call', 'file_search_call', 'image_generation_call'],
      ['mcp_list_tools', 'tool_search_output', 'compaction'],
    ],
  ])('is archived for calls that %s ran itself, each counted once', (provider, calls, others) => {
    const block = (type: string) => ({ type: 'provider' as const, provider, data: { type, id: 'a' } })
    const content = Array.from({ length: 4 }, (_, index) => block(calls[index % calls.length] ?? ''))
    const of = (...more: readonly string[]) => [
      user('Go'),
      { role: 'assistant' as const, content: [...content, ...more.map(block)] },
    ]
    expect(archivalDecision(turn({ messages: of(...others) }))).toEqual({ archive: false, reason: 'below_thresholds' })
    expect(archivalDecision(turn({ messages: of(calls.at(-1) ?? '') }))).toEqual({
      archive: true,
      reason: 'tool_calls',
    })
    const own = [...of(), asking('own'), answering('own'), saying('Done.')]
    expect(archivalDecision(turn({ messages: own }))).toEqual({ archive: true, reason: 'tool_calls' })
  })

  it('is weighed by what a provider found, too', () => {
    const data = { type: 'web_search_tool_result', content: [{ title: 'word '.repeat(9_000) }] }
    const content = [{ type: 'provider' as const, provider: 'anthropic', data }]
    const messages: readonly Message[] = [user('Go'), { role: 'assistant', content }]
    const estimate = (tokens: number) => isAtLeast(messages, { factor: 1, tokens })
    expect(archivalDecision(turn({ messages, estimate }))).toEqual({ archive: true, reason: 'tokens' })
  })

  it('is archived for exactly as many tokens as the threshold says, and not for one less', () => {
    expect(archivalDecision(turn({ estimate: 8_000 }))).toEqual({ archive: true, reason: 'tokens' })
    expect(archivalDecision(turn({ estimate: 7_999 }))).toEqual({ archive: false, reason: 'below_thresholds' })
    const never = turn({ estimate: 1e9, trigger: { tokenThreshold: null, toolCallThreshold: null } })
    expect(archivalDecision(never)).toEqual({ archive: false, reason: 'below_thresholds' })
  })

  it('is weighed by the arguments of its calls as well', () => {
    const heavy: Message = {
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'a', name: 'write', arguments: { text: 'word '.repeat(100) } }],
    }
    const messages = [user('Go'), heavy, answering('a'), saying('Done.')]
    const tokens = estimateTokens(messages, { factor: 1 })
    expect(tokens).toBeGreaterThan(100)
    const weighed = (tokenThreshold: number) =>
      archivalDecision(
        turn({
          messages,
          estimate: (least) => isAtLeast(messages, { factor: 1, tokens: least }),
          trigger: { tokenThreshold },
        }),
      )
    expect(weighed(tokens)).toEqual({ archive: true, reason: 'tokens' })
    expect(weighed(tokens + 1)).toEqual({ archive: false, reason: 'below_thresholds' })
  })

  it('is not weighed if something else decides', () => {
    const estimate = (): never => {
      throw new Error('it was weighed')
    }
    expect(archivalDecision(turn({ estimate, messages: calling(5) })).reason).toBe('tool_calls')
    expect(archivalDecision(turn({ estimate, depth: 3 })).reason).toBe('depth_cap')
  })

  it('stays where archival is off, or nothing stands behind what opened it', () => {
    expect(archivalDecision(turn({ config: { enabled: false, trigger }, messages: calling(9) }))).toEqual({
      archive: false,
      reason: 'disabled',
    })
    expect(archivalDecision(turn({ messages: [user('Go')], stop: 'max-steps' })).reason).toBe('empty')
  })

  it('stays from the depth of the cap on, whatever the triggers say; with a cap of 0 everywhere', () => {
    expect(archivalDecision(turn({ depth: 3, stop: 'max-steps' })).reason).toBe('depth_cap')
    expect(archivalDecision(turn({ depth: 2, stop: 'max-steps' })).archive).toBe(true)
    expect(archivalDecision(turn({ messages: calling(9), trigger: { depthCap: 0 } })).reason).toBe('depth_cap')
  })

  it.each([
    ['a cancelled turn of ten calls', { stop: 'cancelled' }, 'not_finished'],
    ['one that failed', { stop: 'failed' }, 'not_finished'],
    ['one whose call was declined', { stop: 'declined' }, 'not_finished'],
    ['one that spent its budget', { stop: 'budget-spent' }, 'not_finished'],
    ['the last one of a session', { sessionOver: true }, 'session_over'],
    ['one under a ceiling that has tripped', { latched: true }, 'cost_ceiling'],
  ] as const)('stays if it is %s', (_, changes, reason) => {
    expect(archivalDecision(turn({ messages: calling(10), ...changes }))).toEqual({ archive: false, reason })
  })

  it.each([
    ['first', 0],
    ['in the middle', 2],
    ['last', 4],
  ])('stays if a call has no result: the %s', (_, open) => {
    const messages = calling(5).filter((message) => message.role !== 'tool' || message.callId !== `call-${open}`)
    expect(archivalDecision(turn({ messages }))).toEqual({ archive: false, reason: 'unanswered_call' })
    expect(archivalDecision(turn({ messages: messages.slice(0, 3) })).reason).toBe('below_thresholds')
  })
})
