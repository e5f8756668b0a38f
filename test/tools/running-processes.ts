import { readdirSync, readFileSync } from 'node:fs'

/** Ids of processes whose command line has this in it; words are apart by a blank. */
export function processesWith(words: string): string[] {
  const text = words.replaceAll(' ', '\0')
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text)
    } catch {
      return false
    }
  })
}
