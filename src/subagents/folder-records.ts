import { EntiaError } from '../world/entia-error.ts'
import type { Records } from './records.ts'

/**
 * Records as files in a folder, which is made with the first of them; folders and files are for their owner alone. What
 * a file system needs is loaded at first use.
 *
 * @param folder may be a link; a relative one counts from the working folder of now
 * @throws `invalid-argument` for an empty one
 */
export function folderRecords(folder: string): Records {
  if (folder === '')
    throw new EntiaError('invalid-argument', 'folderRecords: expected the path of a folder; none came.')
  const workingFolder = process.cwd()
  const load = async (): Promise<Records> => {
    const { RecordFolder } = await import('./record-folder.ts')
    return new RecordFolder(workingFolder, folder)
  }
  let records: Promise<Records> | undefined
  const loaded = () => (records ??= load())
  return {
    put: async (key, text) => (await loaded()).put(key, text),
    get: async (key, range) => (await loaded()).get(key, range),
  }
}
