import ignore from 'ignore'
import { Refusal } from './refusal.ts'

/** Most patterns that the braces of one may stand for. */
const maxAlternatives = 100

/**
 * A test for paths (with `/`, folders with one at the end) by a pattern as in ignore files: without a `/` it fits names at
 * any depth, `**` spans folders, and what fits a folder fits all that is in it. `{a,b}` stands for either.
 *
 * @throws Refusal for a pattern whose braces stand for too many
 */
export function globTest(pattern: string): (path: string) => boolean {
  const patterns = alternatives(pattern.replace(/^\.\//, '/')).map((each) => each.replace(/^[!#]/, '\\$&'))
  const rules = ignore({ ignorecase: false }).add(patterns)
  return (path) => rules.ignores(path)
}

/** `a.{b,c}` as `a.b` and `a.c`; braces may stand in braces. */
function alternatives(pattern: string): string[] {
  const done: string[] = []
  const open = [pattern]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    // The innermost braces first, so that what is between them holds no others.
    const braces = /\{([^{}]*,[^{}]*)\}/.exec(next)
    if (braces === null) done.push(next)
    else for (const part of (braces[1] as string).split(',')) open.push(next.replace(braces[0], () => part))
    if (done.length + open.length > maxAlternatives) {
      throw new Refusal(`The braces of the pattern stand for more than ${maxAlternatives} patterns.`)
    }
  }
  return done
}
