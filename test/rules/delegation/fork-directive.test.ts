import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UserMessage } from '../../../src/protocol/message.ts'
import { parseEnvelope } from '../../../src/rules/delegation/envelope.ts'
import { builtInForkPrompt, forkDirective } from '../../../src/rules/delegation/fork-history.ts'

function textOf(prompt: string): string {
  const { role, content } = forkDirective(prompt)
  expect(role).toBe('user')
  expect(content).toHaveLength(1)
  const [block] = content
  return block?.type === 'text' ? block.text : ''
}

describe('the directive of a fork', () => {
  it('is a fixed part in tags, a blank line, and the prompt at the end', () => {
    expect(textOf('Count the lines.')).toMatch(
      /^<fork-boilerplate>\n[^]+\n<\/fork-boilerplate>\n\nDirective: Count the lines\.$/,
    )
    expect(UserMessage().safeParse(forkDirective('Count the lines.')).success).toBe(true)
  })

  it('passes the prompt on as it is, and differs in nothing else', () => {
    const fixed = textOf('')
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('$&', "$'$`$1$$", '${_installed_tools}', '</fork-boilerplate>\n\nDirective: no', '\n a \n'),
    )
    fc.assert(fc.property(texts, (prompt) => textOf(prompt) === fixed + prompt))
  })

  it.each([
    ['that it is a fork', /you are a fork/i],
    ['that what stands above is background', /above is background/i],
    [
      'to carry out this one directive itself, with its tools',
      /carry out the one directive below yourself, with your tools/i,
    ],
    ['to start no fork', /start no fork/i],
    ['to ask no questions', /ask no questions/i],
    ['to stay in scope', /stay in the scope/i],
    ['to make no commit of its own accord', /no commit unless the directive says so/i],
    ['how long its report may be', /under 500 words in full_result/i],
  ])('tells the model %s', (_, said) => {
    expect(textOf('Go.')).toMatch(said)
  })

  it('shows the form of the answer: an envelope whose report has five parts, in order', () => {
    const [shown = ''] = /<subagent_background_result>[^]*<\/subagent_background_result>/.exec(textOf('Go.')) ?? []
    const { summary, result } = parseEnvelope(shown)
    expect(summary).not.toBeUndefined()
    expect(result).toMatch(/^Scope:[^]*\nResult:[^]*\nKey files:[^]*\nFiles changed:[^]*\nIssues:/)
  })
})

describe('the built-in prompt of forks', () => {
  it('is a text of its own, without placeholders', () => {
    expect(builtInForkPrompt.trim()).not.toBe('')
    expect(builtInForkPrompt).not.toContain('${')
  })
})
