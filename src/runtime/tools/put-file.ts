import { open, stat } from 'node:fs/promises'
import type { Stats } from 'node:fs'

/**
 * Replaces what is in a file, or makes it; it keeps its mode, its owner and its other names. In one step where another file can
 * take its place, else where it lies.
 *
 * @param path absolute, with no link in it
 * @param mode of a new file. @default as the system makes files
 */
export async function putFile(path: string, content: string | Buffer, mode?: number): Promise<void> {
  const bytes = Buffer.from(content)
  const stats = await stat(path).catch(() => undefined)
  if (stats !== undefined && !mayBeReplaced(stats)) return overwrite(path, bytes)
  const { default: writeFileAtomic } = await import('write-file-atomic')
  try {
    await writeFileAtomic(path, bytes, stats !== undefined || mode === undefined ? {} : { mode })
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (stats === undefined || !placeErrors.has(code)) throw error
    await overwrite(path, bytes)
  }
}

/** The folder takes no other file, or the file is mounted: it may be writable itself. */
const placeErrors: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY'])

/** Another file in its place would not have its other names, or an owner and group that only the system may give. */
function mayBeReplaced({ gid, nlink, uid }: Stats): boolean {
  if (nlink > 1) return false
  const own = process.getuid?.()
  if (own === undefined || own === 0) return true
  return uid === own && (gid === process.getgid?.() || process.getgroups?.().includes(gid) === true)
}

async function overwrite(path: string, bytes: Buffer): Promise<void> {
  const handle = await open(path, 'r+')
  try {
    for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten
    await handle.truncate(bytes.length)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
