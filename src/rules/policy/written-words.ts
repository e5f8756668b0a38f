import { baseName } from './shell-word.ts'

/** Commands whose operands are all written, moved or removed. */
const writesAll = new Set(
  'mv rm rmdir mkdir touch tee truncate shred chmod chown chgrp mkfifo mknod crontab unlink'.split(' '),
)
/** Commands whose last operand is where they write. */
const writesLast = new Set('cp install ln link rsync scp ditto'.split(' '))
/** Options whose value is where a command writes, by the command. */
const writesTo: Readonly<Record<string, RegExp>> = {
  cp: /^(?:-t|--target-directory)$/,
  curl: /^(?:-\w*o|--output|--output-dir)$/,
  dd: /^of=/,
  install: /^(?:-t|--target-directory)$/,
  mv: /^(?:-t|--target-directory)$/,
  sort: /^(?:-o|--output)$/,
  tar: /^(?:-C|--directory)$/,
  unzip: /^-d$/,
  wget: /^(?:-\w*[OP]|--output-document|--directory-prefix)$/,
}
/** Commands that change the files they are given with this option. */
const editsWith: Readonly<Record<string, RegExp>> = {
  perl: /^-\w*i/,
  sed: /^(?:-\w*i|--in-place)/,
}

/** The places, among the words of a command, of those that it writes. @param words all values of each */
export function writtenAmong(words: readonly (readonly string[])[]): readonly number[] {
  const start = words.findIndex((values) => values.some((value) => isWriter(baseName(value))))
  if (start === -1) return []
  const names = (words[start] ?? []).map(baseName)
  const places = words.map((_, at) => at).filter((at) => at > start)
  const operands = places.filter((at) => words[at]?.some((value) => !value.startsWith('-')))
  const isOption = (at: number, options: RegExp | undefined): boolean =>
    options !== undefined && (words[at] ?? []).some((value) => options.test(value.replace(/^(--[\w-]+)=.*/s, '$1')))
  return names.flatMap((name) => {
    if (writesAll.has(name)) return operands
    if (editsWith[name] !== undefined) return places.some((at) => isOption(at, editsWith[name])) ? operands : []
    const named = places.filter((at) => isOption(at, writesTo[name]))
    const behind = named.flatMap((at) => (words[at]?.some((value) => value.includes('=')) ? [at] : [at + 1]))
    return writesLast.has(name) ? [...behind, ...operands.slice(-1)] : behind
  })
}

function isWriter(name: string): boolean {
  return writesAll.has(name) || writesLast.has(name) || Object.hasOwn(writesTo, name) || Object.hasOwn(editsWith, name)
}
