import { describe, expect, it } from 'vitest'
import { dataClasses, operations } from '../../../src/protocol/policy.ts'
import { deedText, reasonText } from '../../../src/runtime/policy/reason-text.ts'

describe('the reason of a decision, for a person', () => {
  it.for([
    ['default: code/exec/cli', 'it runs a command in your project'],
    ['default: personal/read/matrix', 'it reads among your personal files'],
    ['default: other/write/console', 'it writes outside of your project'],
    ['default: public/unknown/cli', 'it does not say what it changes'],
    ['default: public/read/cli', 'it reads'],
    ['configured: bash', 'by the settings for bash'],
    ['credential path: ~/.ssh/id_rsa', 'there may be credentials in ~/.ssh/id_rsa'],
    ['opaque command: eval "$X"', 'what it does cannot be read from the command: eval "$X"'],
    ['plan mode', 'plan mode'],
    ['outside the allowed paths: /etc', 'outside the allowed paths: /etc'],
    ['because I say so', 'because I say so'],
    ['constructor', 'constructor'],
    ['default: new/thing', 'new/thing'],
  ] as const)('of %j is %j', ([code, words]) => {
    expect(reasonText(code)).toBe(words)
  })

  it('has words for all that a policy knows', () => {
    for (const dataClass of dataClasses) {
      for (const operation of operations) expect(deedText(operation, dataClass)).toMatch(/^[a-z ]+$/)
    }
    expect(deedText(undefined, 'code')).toBe('')
  })
})
