/**
 * Unquoted characters of a shell word that match many, as characters that no name has. What was quoted in a word stays the
 * character that it is.
 */
export const wild = {
  many: '\uE000',
  one: '\uE001',
  open: '\uE002',
  close: '\uE003',
  anything: '\uE004',
  /** What is known only when it runs: any text, with slashes in it too. */
  unknown: '\uE005',
  /** Where an unquoted expansion is split into words. */
  blank: '\uE006',
} as const

const wildCharacter = /[\uE000-\uE005]/
export const wildCharacters = /[\uE000-\uE006]/g

export function isPattern(text: string): boolean {
  return wildCharacter.test(text)
}

/** The characters of a pattern that stand for themselves. */
export function plainText(pattern: string): string {
  return pattern.replace(wildCharacters, '')
}

/** Without the characters that this file gives a meaning to. */
export function withoutWild(text: string): string {
  return text.replace(wildCharacters, '\uFFFD')
}

/** Longest name that is compared with a pattern; a longer pattern matches nothing that is listed. */
const maxPatternChars = 1_000

/** Can a pattern of one name match a name, as bash matches: a leading dot only by itself? */
export function canMatch(pattern: string, name: string): boolean {
  if (pattern.length > maxPatternChars) return true
  const first = pattern[0]
  if (name.startsWith('.') && (first === wild.many || first === wild.one || first === wild.open)) return false
  const atoms = atomsOf(pattern)
  let reached = new Set([0])
  const spread = (from: Set<number>): Set<number> => {
    for (const at of from) if (atoms[at] === 'many') from.add(at + 1)
    return from
  }
  spread(reached)
  for (const character of name) {
    const next = new Set<number>()
    for (const at of reached) {
      const atom = atoms[at]
      if (atom === undefined) continue
      if (atom === 'many') next.add(at)
      else if (atom.has(character)) next.add(at + 1)
    }
    reached = spread(next)
  }
  return reached.has(atoms.length)
}

type Atom = 'many' | { has: (character: string) => boolean }

function atomsOf(pattern: string): readonly Atom[] {
  const atoms: Atom[] = []
  const characters = Array.from(pattern)
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string
    if (character === wild.many || character === wild.anything || character === wild.unknown) atoms.push('many')
    else if (character === wild.one) atoms.push({ has: () => true })
    else if (character === wild.open) {
      const end = characters.indexOf(wild.close, at)
      const inside = characters.slice(at + 1, end === -1 ? undefined : end)
      atoms.push(end === -1 ? { has: () => true } : bracket(inside))
      if (end !== -1) at = end
    } else if (character !== wild.close) atoms.push({ has: (other) => other === character })
  }
  return atoms
}

/** Characters in brackets, ranges and classes; a class such as `[:alpha:]` counts as any character. */
function bracket(inside: readonly string[]): Atom {
  if (inside.includes('[')) return { has: () => true }
  const negated = inside[0] === '!' || inside[0] === '^'
  const members = negated ? inside.slice(1) : inside
  const includes = (character: string): boolean =>
    members.some((member, at) => {
      if (member === character) return true
      const last = members[at + 2]
      return members[at + 1] === '-' && last !== undefined && member <= character && character <= last
    })
  return { has: (character) => includes(character) !== negated }
}
