import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TerminalKeys } from '../../../src/cli/keyboard/terminal-keys.ts'
import type { TypedInput } from '../../../src/cli/keyboard/key-codes.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** What arrives of some reads, with a pause between two of them; keys as `<ctrl-c>`. */
function typed(reads: readonly (string | Uint8Array)[], pauseMs = 0): string[] {
  const inputs: string[] = []
  const keys = new TerminalKeys((input) => inputs.push(shown(input)))
  for (const read of reads) {
    keys.write(Buffer.from(read))
    if (pauseMs > 0) vi.advanceTimersByTime(pauseMs)
  }
  vi.advanceTimersByTime(5_000)
  keys.close()
  return inputs
}

function shown(input: TypedInput): string {
  if (input.kind === 'paste') return `paste ${JSON.stringify(input.text)}`
  if (input.kind === 'text') return input.text
  const { ctrl, meta, name, shift } = input.key
  return `<${[ctrl && 'ctrl-', meta && 'meta-', shift && 'shift-', name].filter(Boolean).join('')}>`
}

/** A text in two reads, split at each of its bytes. */
function splits(text: string): [Uint8Array, Uint8Array][] {
  const bytes = Buffer.from(text)
  return Array.from({ length: bytes.length - 1 }, (_, index) => [
    bytes.subarray(0, index + 1),
    bytes.subarray(index + 1),
  ])
}

const codes: [name: string, code: string][] = [
  ['device attributes', '\u001b[?62;22;52c'],
  ['second device attributes', '\u001b[>41;354;0c'],
  ['the version of a terminal', '\u001bP>|xterm(390)\u001b\\'],
  ['a setting', '\u001bP1$r2 q\u001b\\'],
  ['a capability', '\u001bP1+r524742=38\u001b\\'],
  ['the state of a mode', '\u001b[?2026;2$y'],
  ['the place of the cursor', '\u001b[24;80R'],
  ['the size of the window', '\u001b[8;24;80t'],
  ['a colour', '\u001b]11;rgb:1e1e/1e1e/2e2e\u001b\\'],
  ['a colour, ended by a bell', '\u001b]10;rgb:ffff/ffff/ffff\u0007'],
  ['the clipboard', '\u001b]52;c;w6QgYg==\u0007'],
  ['a picture that was taken', '\u001b_Gi=31;OK\u001b\\'],
  ['the focus', '\u001b[I'],
  ['the focus that is lost', '\u001b[O'],
  ['a press of the mouse', '\u001b[<0;12;7M'],
  ['a release of the mouse', '\u001b[<0;12;7m'],
  ['a mouse event of rxvt', '\u001b[32;12;7M'],
  ['an old mouse event', '\u001b[M !!'],
  ['what a keyboard can', '\u001b[?1u'],
  ['a key that is let go', '\u001b[97;1:3u'],
  ['a media key', '\u001b[57428u'],
  ['a function key', '\u001b[15~'],
  ['a function key of a console', '\u001b[[A'],
  ['F1', '\u001bOP'],
  ['F3 with Shift', '\u001b[1;2R'],
]

describe('what a terminal says by itself', () => {
  it.for(codes)('is no text: %s, wherever it is split', ([, code]) => {
    expect(typed([`a${code}b`])).toEqual(['a', 'b'])
    for (const [first, second] of splits(code)) {
      expect(typed(['a', first, second, 'b'])).toEqual(['a', 'b'])
      expect(typed(['a', first, second, 'b'], 30)).toEqual(['a', 'b'])
    }
    expect(typed(['a', ...Array.from(code), 'b'])).toEqual(['a', 'b'])
  })

  it('is no text where only its Escape arrived for a long time, which is taken for the key', () => {
    for (const [, code] of codes.filter(([name]) => /attributes|colour|place|focus$|mouse$|setting/.test(name))) {
      expect(typed(['\u001b', code.slice(1)], 150)).toEqual(['<escape>'])
    }
  })

  it('does not keep the keyboard when it has no end', () => {
    expect(typed(['\u001b]11;rgb:', 'ab'], 2_000)).toEqual(['ab'])
    expect(typed(['\u001b[?62;', 'ab'], 2_000)).toEqual(['ab'])
    expect(typed(['\u001b]52;c;', '\u0003'])).toEqual(['<ctrl-c>'])
    expect(typed(['\u001b[1;\u0003a'])).toEqual(['<ctrl-c>', 'a'])
    const long = Array.from({ length: 40 }, () => 'x'.repeat(65_536))
    expect(typed(['\u001b]52;c;', ...long, '\u001b', '\\b'])).toEqual(['b'])
  })
})

describe('a key', () => {
  it.for<[code: string, ...keys: string[]]>([
    ['\r', '<return>'],
    ['\n', '<enter>'],
    ['\t', '<tab>'],
    ['\u001b[Z', '<shift-tab>'],
    ['\u0003', '<ctrl-c>'],
    ['\u007f', '<backspace>'],
    ['\u001b\u007f', '<meta-backspace>'],
    ['\u001b\r', '<meta-return>'],
    ['\u001bb', '<meta-b>'],
    ['\u001b[A', '<up>'],
    ['\u001bOA', '<up>'],
    ['\u001b[1;5D', '<ctrl-left>'],
    ['\u001b\u001b[C', '<meta-right>'],
    ['\u001b[3~', '<delete>'],
    ['\u001b[3;5~', '<ctrl-delete>'],
    ['\u001b[13;2u', '<shift-return>'],
    ['\u001b[27;2;13~', '<shift-return>'],
    ['\u001b[13;5u', '<ctrl-return>'],
    ['\u001b[13;3u', '<meta-return>'],
    ['\u001b[27u', '<escape>'],
    ['\u001b[99;5u', '<ctrl-c>'],
    ['\u001b[27;5;99~', '<ctrl-c>'],
    ['\u001b[99;133u', '<ctrl-c>'],
    ['\u001b[106;5u', '<enter>'],
    ['\u001b[109;5:1u', '<return>'],
    ['\u001b[97;2u', 'A'],
    ['\u001b[97:65;2;65u', 'A'],
    ['\u001b[228;2u', 'Ä'],
    ['\u001b[57400u', '1'],
    ['\u001b[57414u', '<return>'],
    ['\u001b[57419u', '<up>'],
    ['\u001b[97;1;99999999u', 'a'],
    ['\u001b[99999999u'],
    ['\u001b\u001b', '<escape>', '<escape>'],
  ])('is read from %j, wherever it is split', ([code, ...keys]) => {
    expect(typed([code])).toEqual(keys)
    for (const split of splits(code)) expect(typed(split)).toEqual(keys)
  })

  it('is Escape when no more follows', () => {
    expect(typed(['\u001b', 'a'], 150)).toEqual(['<escape>', 'a'])
    expect(typed(['\u001b', '[', 'a'], 1_500)).toEqual(['<escape>', '[', 'a'])
  })
})

describe('a text', () => {
  it('is whole where its characters are split', () => {
    for (const split of splits('é漢👩‍👩‍👧')) expect(typed(split).join('')).toBe('é漢👩‍👩‍👧')
  })

  it('has tabs where a text follows at once', () => {
    expect(typed(['name\t\tsize\t'])).toEqual(['name', '\t\t', 'size', '<tab>'])
  })
})

describe('a paste', () => {
  const text = 'all:\n\tcc \ue000\u2028x\n\u001b[31mred\u001b[0m 👩‍👩‍👧\n'

  it('is the text that was pasted, wherever it is split', () => {
    const code = `\u001b[200~${text.replaceAll('\n', '\r')}\u001b[201~`
    for (const split of splits(code)) expect(typed([...split, 'b'])).toEqual([`paste ${JSON.stringify(text)}`, 'b'])
  })

  it('has a carriage return that stands alone, where the terminal sends line feeds', () => {
    expect(typed(['\u001b[200~10%\r20%\r\ndone\n\u001b[201~'])).toEqual(['paste "10%\\r20%\\ndone\\n"'])
  })

  it('is whole when it is long', () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} of a paste`).join('\n')
    const code = `\u001b[200~${lines}\u001b[201~`
    const reads = Array.from({ length: Math.ceil(code.length / 4_095) }, (_, index) =>
      code.slice(index * 4_095, (index + 1) * 4_095),
    )
    expect(typed(reads)).toEqual([`paste ${JSON.stringify(lines)}`])
  })

  it('without an end ends with Ctrl-C, and keeps what has arrived', () => {
    expect(typed(['\u001b[200~one\u001b[20', '\u0003', 'b'])).toEqual(['paste "one\\u001b[20"', 'b'])
  })
})
