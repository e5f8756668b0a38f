import type { WordReading } from './shell-word.ts'

/** Commands whose words are texts, not programs of a shell. */
const textNames = new Set('echo printf grep egrep fgrep rg ag ack sed awk gawk jq yq git gh test expr'.split(' '))
/** What `git` takes texts for. */
const ofGit = new Set(
  (
    'blame branch cherry-pick commit describe diff for-each-ref grep log merge notes reflog rev-list rev-parse revert shortlog ' +
    'show stash status tag'
  ).split(' '),
)

export function takesTexts(name: string): boolean {
  return textNames.has(name)
}

/** Words of a command that may be programs of a shell: those with blanks, unless it takes texts. */
export function commandTexts(name: string, words: readonly WordReading[]): readonly string[] {
  const texts = words.slice(1).flatMap(({ values }) => values)
  const sets = texts.includes('-c') || texts.some((text) => /^core\.|^alias\./.test(text))
  const isText = takesTexts(name) && !(name === 'git' && (sets || !texts.some((text) => ofGit.has(text))))
  // An alias of `git` or `gh`.
  return isText ? texts.filter((text) => text.startsWith('!')) : texts.filter((text) => /\s/.test(text))
}
