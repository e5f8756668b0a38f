import { EntiaError } from '../world/entia-error.ts'

/**
 * The names that a record's key consists of.
 *
 * @throws `invalid-argument` for a key that could lead out of a folder, or that means another place on another system
 */
export function namesInKey(key: string): readonly string[] {
  const names = typeof key === 'string' ? key.split('/') : []
  const isPath = names.length > 0 && names.every((name) => !['', '.', '..'].includes(name) && !/[\\:\0]/.test(name))
  if (isPath && key.isWellFormed()) return names
  const came = typeof key === 'string' ? JSON.stringify(key) : typeof key
  throw new EntiaError(
    'invalid-argument',
    'The key of a record has to be a relative path of names with / between them, none of them . or .. and without ' +
      `backslash, colon and NUL; ${came} came.`,
    { key },
  )
}
