import { hasCode } from '../../base/unless-missing.ts'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder and its missing parents, and gives the uppermost that was made. Step by step: Node's recursive form never
 * ends below an existing folder in which nothing can be made, like `/proc`.
 */
export async function makeFolders(folder: string): Promise<string | undefined> {
  const isMade = await made(folder)
  if (isMade !== undefined) return isMade ? folder : undefined
  const uppermost = await makeFolders(dirname(folder))
  await mkdir(folder).catch(async (error: unknown) => {
    if (!(await isFolder(folder))) throw error
  })
  return uppermost ?? folder
}

/** `false`: it is there already; `undefined`: its parent is missing. */
async function made(folder: string): Promise<boolean | undefined> {
  try {
    await mkdir(folder)
    return true
  } catch (error) {
    if (await isFolder(folder)) return false
    if (hasCode(error, 'ENOENT') && dirname(folder) !== folder) return undefined
    throw error
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}
