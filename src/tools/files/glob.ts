import ignore from 'ignore'
import { Refusal } from './refusal.ts'

/** Patterns after expanding braces. */
const maxAlternatives = 100

/**
 * Tests paths (with `/`, folders end in one) as ignore files do: without `/` a pattern matches names at any depth, `**` spans
 * folders, and a matched folder matches all in it. `{a,b}` is either.
 *
 * @throws Refusal for too many braces
 */
export function globTest(pattern: string): (path: string) => boolean {
  const patterns = alternatives(pattern.replace(/^\.\//, '/')).map((each) => each.replace(/^[!#]/, '\\$&'))
  const rules = ignore({ ignorecase: false }).add(patterns)
  return (path) => rules.ignores(path)
}

/** Expands braces, nested ones too. */
function alternatives(pattern: string): string[] {
  const done: string[] = []
  const open = [pattern]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    // Innermost braces first.
    const braces = /\{([^{}]*,[^{}]*)\}/.exec(next)
    if (braces === null) done.push(next)
    else for (const part of (braces[1] as string).split(',')) open.push(next.replace(braces[0], () => part))
    if (done.length + open.length > maxAlternatives) {
      throw new Refusal(`The braces of the pattern stand for more than ${maxAlternatives} patterns.`)
    }
  }
  return done
}
