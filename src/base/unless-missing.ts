/** What was found; `undefined` where the file or folder is not there. */
export async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Did the file system find nothing at a path? A file in the place of one of its folders counts, too. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ENOTDIR')
}

/** Is it an error with one of these codes, such as `EEXIST`? */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
