import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasPlaceholder, type Installed, renderPrompt } from '../../../src/rules/projection/system-prompt.ts'

const names = fc.array(fc.string({ minLength: 1, unit: 'binary' }).map((name) => name.replaceAll('\n', ' ')))
const installed: fc.Arbitrary<Installed> = fc.record({
  tools: names.map((all) => all.map((name) => ({ name }))),
  skills: names.map((all) => all.map((name) => ({ name }))),
  subagents: names.map((all) => all.map((name) => ({ name }))),
  isFreeForm: fc.boolean(),
  mcps: names,
})

/** Texts that are full of what could be taken for a placeholder. */
const tricky = fc
  .array(fc.oneof(fc.constantFrom('${', '}', '$', '$&', '$1', '{', '_installed', '_tools', '${HOME}'), fc.string()))
  .map((parts) => parts.join(''))

describe('a prompt', () => {
  it('without a placeholder stays as it is, whatever the agent has', () => {
    const plain = tricky.filter((text) => !text.includes('${_installed_'))
    fc.assert(
      fc.property(plain, installed, (template, has) => {
        expect(renderPrompt(template, has)).toEqual({ text: template, unknown: [] })
        expect(hasPlaceholder(template)).toBe(false)
      }),
    )
  })

  it('keeps what stands around a placeholder, and fills a line in for each name, by code point', () => {
    const plain = tricky.filter((text) => !text.includes('_installed'))
    fc.assert(
      fc.property(plain, plain, names, (before, behind, all) => {
        const named = all.map((name) => ({ name }))
        const has = { tools: named, skills: named, subagents: named, isFreeForm: false, mcps: all }
        const sorted = all.toSorted((a, b) => Buffer.compare(utf32(a), utf32(b)))
        const lines = sorted.map((name) => `- ${name}`).join('\n') || '- none'
        for (const kind of ['tools', 'skills', 'subagents', 'mcps']) {
          const { text } = renderPrompt(`${before}\${_installed_${kind}}${behind}`, has)
          expect(text).toBe(`${before}${lines}${behind}`)
        }
      }),
    )
  })

  it('is read once: a name that looks like a placeholder is a name', () => {
    const has = {
      tools: [{ name: '${_installed_skills}' }],
      skills: [{ name: 'git' }],
      subagents: [{ name: 'poet', description: '${_installed_mcps} ${_installed_x}' }],
      isFreeForm: false,
      mcps: ['web'],
    }
    expect(renderPrompt('${_installed_tools}|${_installed_subagents}|${_installed_mcps}', has)).toEqual({
      text: '- ${_installed_skills}|- poet: ${_installed_mcps} ${_installed_x}|- web',
      unknown: [],
    })
  })

  it.each([
    ['${_installed_${_installed_mcps}}', '${_installed_- none}', []],
    ['${_installed_}', '${_installed_}', ['${_installed_}']],
    ['${_installed_tools', '${_installed_tools', []],
    ['${_installed_tool s}', '${_installed_tool s}', []],
    ['${_installed_X1} ${_installed_X1}', '${_installed_X1} ${_installed_X1}', ['${_installed_X1}']],
    ['$${_installed_skills}$', '$- none$', []],
  ])('%s reads %s', (template, text, unknown) => {
    const has = { tools: [], skills: [], subagents: [], isFreeForm: false, mcps: [] }
    expect(renderPrompt(template, has)).toEqual({ text, unknown })
  })
})

/** Code points in an order that bytes have. */
function utf32(text: string): Buffer {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0)
  const bytes = Buffer.alloc(points.length * 4)
  points.forEach((point, index) => bytes.writeUInt32BE(point, index * 4))
  return bytes
}
