import { EntiaError } from '../../base/entia-error.ts'

/** What a skill may have, in total. */
export const skillLimits = Object.freeze({
  maxBytes: 50_000_000,
  maxFiles: 2_000,
  maxDepth: 16,
  /** Of a repository, packed. */
  maxFetchedBytes: 100_000_000,
})

export function tooLarge(source: string, got: string): EntiaError {
  const { maxBytes, maxFiles } = skillLimits
  const wanted = `A skill must have at most ${maxFiles} files and ${maxBytes / 1e6} MB`
  return new EntiaError('invalid-skill', `${source} is too large. ${wanted}, got ${got}.`, { source })
}
