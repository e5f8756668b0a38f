import { EntiaError } from '../world/entia-error.ts'

const fileSuffix = '.jsonl'

/**
 * The names that a transcript's key consists of. Since the last one alone has the suffix, no transcript lies where another
 * one needs a folder.
 *
 * @throws `invalid-argument` for a key that could lead out of a folder, or that means another place on another system
 */
export function namesInTranscriptKey(key: string): readonly string[] {
  const names = typeof key === 'string' && key.isWellFormed() ? key.split('/') : []
  const isPath = names.every((name) => !['', '.', '..'].includes(name) && !/[\\:\0]/.test(name))
  const isFile = names.findIndex((name) => name.endsWith(fileSuffix)) === names.length - 1
  if (isPath && isFile && names.length > 0) return names
  const came = typeof key === 'string' ? JSON.stringify(key) : typeof key
  throw new EntiaError(
    'invalid-argument',
    'The key of a transcript has to be a relative path of names with / between them, none of them . or .. and without ' +
      `backslash, colon and NUL, of which the last one alone ends in ${fileSuffix}; ${came} came.`,
    { key },
  )
}
