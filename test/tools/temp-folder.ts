import { once } from 'node:events'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Makes a new folder with these files, by path; it is removed when the test is over. */
export async function tempFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'entia-files-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await addFiles(folder, files)
  return folder
}

export async function addFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  const folders = new Set(Object.keys(files).map((path) => dirname(join(folder, path))))
  for (const path of folders) await mkdir(path, { recursive: true })
  await Promise.all(Object.entries(files).map(([path, content]) => writeFile(join(folder, path), content)))
}

/** Puts something there that is neither file nor folder. */
export async function addSocket(path: string): Promise<void> {
  const server = createServer().listen(path)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
}
