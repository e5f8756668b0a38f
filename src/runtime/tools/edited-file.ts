import { SerialByKey } from '../../base/serial.ts'
import { open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { openInside } from '../../tools/files/confined-folder.ts'
import { makeFolders } from '../../tools/files/make-folders.ts'
import { Refusal } from '../../tools/files/refusal.ts'
import { putFile } from './put-file.ts'
import { checkFile, WholeDisk } from './whole-disk.ts'
import type { ToolSettings } from './settings.ts'

/** A file that a tool is about to replace. */
export interface EditedFile {
  /** Absolute, with no link in it. */
  readonly realPath: string
  readonly isNew: boolean
}

/**
 * Finds a file to replace, or the place of a new one.
 *
 * @throws Refusal for what is no regular file, for one that is read-only, and for one that changed since the chat session last read
 * or wrote it
 */
async function editedFile(path: string, settings: ToolSettings): Promise<EditedFile> {
  const { realPath, stats } = await new WholeDisk(settings).locate(path)
  if (stats === undefined) return { realPath, isNew: true }
  checkFile(path, stats)
  // Another file in its place would not be: who has made it so means it, even where the user may write to all.
  if ((stats.mode & writable) === 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, '0')
    throw Refusal.of(path, `is read-only (mode ${mode}). If it is to be changed, make it writable first.`)
  }
  const current = await stat(realPath, { bigint: true })
  if (settings.fileTimes.hasChanged(realPath, current)) {
    throw Refusal.of(path, 'changed since it was last read. Read it again.')
  }
  return { realPath, isNew: false }
}

/** Edits of a file, by its real path. */
const edits = new SerialByKey()

/**
 * Edits a file once earlier edits of it have ended, whose calls may be of the same step.
 *
 * @throws Refusal as `editedFile` does
 */
export async function editInTurn<T>(
  path: string,
  settings: ToolSettings,
  edit: (file: EditedFile) => Promise<T>,
): Promise<T> {
  const { realPath } = await new WholeDisk(settings).locate(path)
  return edits.run(realPath, async () => edit(await editedFile(path, settings)))
}

/** By its owner, its group or others. */
const writable = 0o222

/** Most bytes of a file that is edited. */
const maxEditedBytes = 64 * 1024 * 1024

/** @throws Refusal for a file that is too big */
export async function readWhole(path: string, realPath: string): Promise<Buffer> {
  const { handle } = await openInside(dirname(realPath), realPath)
  try {
    const stats = await handle.stat()
    checkFile(path, stats)
    if (stats.size > maxEditedBytes) throw Refusal.of(path, `is larger than ${maxEditedBytes / 1024 / 1024} MB.`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** The whole of a file that is edited; `undefined`: it is too big. */
export async function wholeBefore(path: string, realPath: string): Promise<Buffer | undefined> {
  const { size } = await stat(realPath)
  return size > maxEditedBytes ? undefined : readWhole(path, realPath)
}

/** Replaces a file, or makes it, and its folders. */
export async function replaceFile(realPath: string, content: string | Buffer, settings: ToolSettings): Promise<void> {
  const folder = dirname(realPath)
  const madeFolder = await makeFolders(folder)
  await settings.backups.around({ path: realPath, content, madeFolder }, () => putFile(realPath, content))
  const handle = await open(realPath)
  try {
    settings.fileTimes.note(realPath, await handle.stat({ bigint: true }))
  } finally {
    await handle.close()
  }
}
