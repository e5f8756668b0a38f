import { describe, expect, it } from 'vitest'
import { chatArguments, runArguments } from '../../../src/cli/chat/chat-arguments.ts'

describe('an option that is not there', () => {
  it.for([
    ['--modle', '--model'],
    ['--modl=x', '--model'],
    ['--max-step', '--max-steps'],
    ['--resum', '--resume'],
    ['--Model', '--model'],
  ] as const)('is answered with the nearest one: %s', ([given, near]) => {
    const [name] = given.split('=')
    const said = `There is no option ${name}. Did you mean ${near}?`
    expect(() => chatArguments([given, 'x'])).toThrow(said)
    expect(() => runArguments(['-p', 'Hello.', given, 'x'])).toThrow(said)
  })
})
