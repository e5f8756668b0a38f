import { EntiaError } from './entia-error.ts'

/**
 * Loads packages that Entia does not install by itself: the optional peers of a door.
 *
 * @param user what needs them, as its user knows it: `serve`
 * @param packages names of packages, for the line to type
 * @param load imports them: `() => import('name')`
 * @throws EntiaError `missing-peer` with the line that installs them
 */
export async function optionalPackages<T>(
  user: string,
  packages: readonly [string, ...string[]],
  load: () => Promise<T>,
): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const missing = packages.filter((name) => isMissing(name, error))
    if (missing.length === 0) throw error
    const one = packages.length === 1
    throw new EntiaError(
      'missing-peer',
      `${user} needs the ${one ? 'package' : 'packages'} ${packages.join(' and ')}, and ${missing.join(', ')} is not installed. Type: npm install ${packages.join(' ')}`,
      { packages },
      { cause: error },
    )
  }
}

/** A package that is there, and lacks one of its own, is not missing. */
function isMissing(name: string, error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? error.code : undefined
  return (
    (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') &&
    new RegExp(`Cannot find (package|module) '${name}(/[^']*)?'`).test(error.message)
  )
}
