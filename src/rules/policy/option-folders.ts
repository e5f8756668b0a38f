import { namesOf, type WordReading } from './shell-word.ts'

/** Options whose value is the folder that a command goes to first, by the command. */
const folderOptions: Readonly<Record<string, RegExp>> = {
  bwrap: /^--chdir$/,
  cargo: /^-C$/,
  env: /^(?:-C|--chdir)$/,
  git: /^-C$/,
  go: /^-C$/,
  make: /^(?:-C|--directory)$/,
  gmake: /^(?:-C|--directory)$/,
  ninja: /^-C$/,
  npm: /^(?:-C|--prefix)$/,
  nsenter: /^(?:-w|--wd)$/,
  parallel: /^(?:--wd|--workdir)$/,
  pnpm: /^(?:-C|--dir)$/,
  sudo: /^(?:-D|--chdir)$/,
  'systemd-run': /^(?:--working-directory|WorkingDirectory)$/,
  tar: /^(?:-C|--directory|--cd)$/,
  bsdtar: /^(?:-C|--directory|--cd)$/,
  unshare: /^(?:-w|--wd)$/,
  yarn: /^--cwd$/,
}

/**
 * The folders that options of a command have it go to, by the place of the word that says so: what follows is read there.
 * `systemd-run` begins in the home folder or at the root.
 */
export function optionFolders(words: readonly WordReading[]): ReadonlyMap<number, readonly WordReading[]> {
  const found = new Map<number, readonly WordReading[]>()
  let option: RegExp | undefined
  for (const [at, word] of words.entries()) {
    const names = namesOf(word)
    const name = names.find((one) => Object.hasOwn(folderOptions, one))
    if (name !== undefined) option = folderOptions[name]
    if (names.includes('systemd-run')) found.set(at, [only('~'), only('/')])
    for (const value of option === undefined ? [] : word.values) {
      const [, long, attached] = /^(?:-\w|--property=)?(WorkingDirectory|--[\w-]+)(?:=(.*))?$/s.exec(value) ?? []
      const [key, folder] = long === undefined ? [value.slice(0, 2), value.slice(2)] : [long, attached ?? '']
      const next = words[at + 1]
      if (option?.test(key) !== true) continue
      if (folder !== '') found.set(at, [only(folder)])
      else if (next !== undefined) found.set(at + 1, [next])
    }
  }
  return found
}

function only(value: string): WordReading {
  return { values: [value], hasUnknown: false, isTooMuch: false }
}
