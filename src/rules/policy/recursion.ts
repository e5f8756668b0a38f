/** Where a command begins in a shell line that reads the folder which it runs in, and all below it, where it names none. */
const commands =
  /(?:^|[;&|({\n`!]|\b(?:sudo|xargs|time|if|while|until|then|do|else|exec|env)\s)\s*(?:[\w./~-]*\/)?(rg|rga|ag|ack|ugrep|rgrep|fd|fdfind|find|tree|du|[ef]?grep|ls|dir|git)(?=\s|$|[;&|)])/g

/** A longer line is not read. */
const maxBodyChars = 16_384
const maxArgumentsChars = 1_000

/**
 * Does a shell line go through the folder that it stands in, without naming it? Read from its text: what looks like such a command in a
 * message counts, too, and so does a line that is too long.
 */
export function goesThroughFolder(body: string): boolean {
  if (body.length > maxBodyChars) return true
  return Array.from(body.matchAll(commands)).some(({ 0: found, 1: name = '', index }) => {
    const rest = body.slice(index + found.length, index + found.length + maxArgumentsChars)
    const [given = ''] = rest.replace(/'[^']*'|"(?:[^"\\]|\\.)*"/g, 'q').split(/[;&|()\n`]/)
    return isThroughFolder(
      name,
      given.split(/\s+/).filter((word) => word !== ''),
    )
  })
}

function isThroughFolder(name: string, words: readonly string[]): boolean {
  const operands = words.filter((word) => !word.startsWith('-'))
  const has = (letters: RegExp, word: RegExp): boolean => words.some((each) => letters.test(each) || word.test(each))
  if (name === 'find' || name === 'tree') return words[0] === undefined || words[0].startsWith('-')
  if (name === 'du')
    return operands.every((word) => /^\d+$/.test(word)) && !words.some((word, at) => isBrief(word, words[at + 1]))
  if (name === 'ls' || name === 'dir') return has(/^-[A-Za-z]*R/, /^--recursive$/)
  if (name === 'git') return isOfGit(words, has(/^-[A-Za-z]*[pu]/, /^--patch$/))
  // The first one is the pattern.
  if (operands.length > 1) return false
  return !/^[ef]?grep$/.test(name) || has(/^-[A-Za-z]*[rR]/, /^--(?:dereference-)?recursive$/)
}

/** Does an option have `du` say no more than the sizes of what is in a folder? @param next the word behind it */
export function isBrief(option: string, next = ''): boolean {
  if (/^-\w*d$|^--max-depth$/.test(option)) return /^[01]$/.test(next)
  return /^-\w*s|^--summarize$|^(?:-\w*d|--max-depth=)[01]$/.test(option)
}

function isOfGit(words: readonly string[], showsPatches: boolean): boolean {
  const command = words.find((word, at) => !word.startsWith('-') && !/^-[Cc]$/.test(words[at - 1] ?? '')) ?? ''
  return /^(?:grep|diff|show|archive|stash)$/.test(command) || (command === 'log' && showsPatches)
}
