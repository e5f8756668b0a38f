import { closeSync, fchmodSync, openSync, writeFileSync } from 'node:fs'

/** Of a file that only its owner may read and write. */
const privateMode = 0o600

/**
 * Creates an empty file for its owner alone, whatever the umask, and never opens one that is there: closing a second
 * descriptor of a database would drop the locks that this process has on it.
 */
export function createPrivately(file: string): void {
  try {
    write(file, 'wx')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/** Writes a file for its owner alone, whatever the umask, over what is there. */
export function writePrivately(file: string, text: string): void {
  write(file, 'w', text)
}

function write(file: string, flags: 'w' | 'wx', text = ''): void {
  const descriptor = openSync(file, flags, privateMode)
  try {
    fchmodSync(descriptor, privateMode)
    writeFileSync(descriptor, text)
  } finally {
    closeSync(descriptor)
  }
}
