import { wild } from './glob.ts'

/** All that a part of a word can be. */
export interface Expanded {
  readonly values: readonly string[]
  /** It can be something else as well, which is known only when it runs. */
  readonly hasUnknown: boolean
  /** It is nothing where an assignment did not take place. */
  readonly mayBeUnset?: boolean
}

/** Gives what a variable can be; `undefined` when nothing is known of it. */
export type VariableLookup = (name: string) => Expanded | undefined

const unknown: Expanded = { values: [], hasUnknown: true }

/**
 * What `${inside}` can be: with its default, its substring, or what is left once a pattern is cut off or replaced.
 *
 * @param read reads a word in it, such as a default
 */
export function expandParameter(inside: string, variable: VariableLookup, read: (raw: string) => Expanded): Expanded {
  const parts = /^(!?)(\w+|[@*])(?:\[[^\]]*\])?(.*)$/s.exec(inside)
  if (parts === null) return unknown
  const [, bang, name = '', operation = ''] = parts
  const named = variable(name) ?? unknown
  const held = bang === '!' ? indirect(named, variable) : named
  const [, sign = '', rest = ''] = /^(:[-=?+]|[-=?+]|##?|%%?|\/[/#%]?|:|\^\^?|,,?|@|)(.*)$/s.exec(operation) ?? []
  switch (sign) {
    case '':
    case ':?':
    case '?':
      return held
    case ':-':
    case '-':
    case ':=':
    case '=':
      return either(held, read(rest))
    case ':+':
    case '+':
      return either({ values: [''], hasUnknown: false }, read(rest))
    case ':':
      return changed(held, substring(rest))
    case '^':
    case '^^':
      return changed(held, (value) =>
        sign === '^' ? value.slice(0, 1).toUpperCase() + value.slice(1) : value.toUpperCase(),
      )
    case ',':
    case ',,':
      return changed(held, (value) =>
        sign === ',' ? value.slice(0, 1).toLowerCase() + value.slice(1) : value.toLowerCase(),
      )
    case '@':
      return unknown
    default:
      return sign.startsWith('/') ? replaced(held, { sign, rest, read }) : trimmed(held, { sign, pattern: read(rest) })
  }
}

function indirect(named: Expanded, variable: VariableLookup): Expanded {
  const held = named.values.map((name) => variable(name) ?? unknown)
  return held.reduce(either, { values: [], hasUnknown: named.hasUnknown })
}

/** What is one of two. */
export function either(one: Expanded, other: Expanded): Expanded {
  return { values: [...new Set([...one.values, ...other.values])], hasUnknown: one.hasUnknown || other.hasUnknown }
}

function changed({ values, hasUnknown }: Expanded, change: (value: string) => string | undefined): Expanded {
  const results = values.map(change)
  return {
    values: [...new Set(results.filter((one) => one !== undefined))],
    hasUnknown: hasUnknown || results.includes(undefined),
  }
}

function substring(rest: string): (value: string) => string | undefined {
  const [, from, length] = /^\s*(-?\d+)\s*(?::\s*(-?\d+)\s*)?$/.exec(rest.replace(/[()]/g, '')) ?? []
  if (from === undefined) return () => undefined
  return (value) => {
    const start = Number(from) < 0 ? Math.max(0, value.length + Number(from)) : Number(from)
    const end =
      length === undefined ? value.length : Number(length) < 0 ? value.length + Number(length) : start + Number(length)
    return value.slice(start, end)
  }
}

interface Replacing {
  readonly sign: string
  readonly rest: string
  readonly read: (raw: string) => Expanded
}

function replaced(held: Expanded, { sign, rest, read }: Replacing): Expanded {
  const [, raw = '', by = ''] = /^((?:[^/\\]|\\.)*)(?:\/(.*))?$/s.exec(rest) ?? []
  const patterns = read(raw)
  const next = read(by)
  const [pattern, ...more] = patterns.values
  const [text = '', ...others] = next.values
  const isKnown = !patterns.hasUnknown && !next.hasUnknown && more.length === 0 && others.length === 0
  const source = pattern === undefined ? undefined : expressionOf(pattern)
  if (!isKnown || source === undefined) return unknown
  const anchored = sign === '/#' ? `^${source}` : sign === '/%' ? `${source}$` : source
  const expression = new RegExp(anchored, sign === '//' ? 'gs' : 's')
  return changed(held, (value) => value.replace(expression, () => text))
}

function trimmed(held: Expanded, { sign, pattern }: { readonly sign: string; readonly pattern: Expanded }): Expanded {
  const [only, ...more] = pattern.values
  const source = only === undefined || more.length > 0 || pattern.hasUnknown ? undefined : expressionOf(only)
  if (source === undefined) return unknown
  const whole = new RegExp(`^${source}$`, 's')
  const isEnd = sign.startsWith('%')
  return changed(held, (value) => {
    const lengths = Array.from({ length: value.length + 1 }, (_, length) => length)
    const found = (sign.length === 2 ? lengths.toReversed() : lengths).find((length) =>
      whole.test(isEnd ? value.slice(value.length - length) : value.slice(0, length)),
    )
    if (found === undefined) return value
    return isEnd ? value.slice(0, value.length - found) : value.slice(found)
  })
}

/** Longest pattern that is tried: what an expression of it costs grows with its length. */
const maxPatternChars = 60

/** A pattern of bash as a regular expression; `undefined` for one that is not tried. */
function expressionOf(pattern: string): string | undefined {
  const stars = pattern.split(wild.many).length - 1
  if (pattern.length > maxPatternChars || stars > 3 || pattern.includes(wild.anything)) return undefined
  return Array.from(pattern, (character) => {
    if (character === wild.many) return '.*'
    if (character === wild.one) return '.'
    if (character === wild.open || character === wild.close) return undefined
    return character.replace(/[$()*+.?[\\\]^{|}/]/, String.raw`\$&`)
  }).reduce<string | undefined>((all, one) => (all === undefined || one === undefined ? undefined : all + one), '')
}
