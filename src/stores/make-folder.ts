import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and those that it lies in, where they are absent, for their owner alone, whatever the umask. Step by step:
 * Node's recursive form never ends below a folder that exists and lets nothing be made in it, like `/proc`.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (existsSync(folder)) return
    throw error
  }
  chmodSync(folder, 0o700)
}
