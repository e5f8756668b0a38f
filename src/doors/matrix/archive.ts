import { thrownMessage } from '../../base/thrown-message.ts'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Folders, folders, writePrivateFile } from '../../runtime/config/folders.ts'
import { callback, checkOptions, environment, refuseMisfit, type ShapesOf } from '../../base/option-shapes.ts'
import { noticesTo } from '../../runtime/notices.ts'
import { archiveFile } from './archive-file.ts'
import { type ArchiveSink, endedTurns } from './archived-turns.ts'
import { readIfThere, ifThere } from './read-if-there.ts'
import { type MatrixSessions, RoomSessions } from './room-sessions.ts'

/** Options of `matrixArchiveAll`. */
export interface ArchiveOptions {
  /** @default Markdown files in the folder `archive` of the data folder, named after the rooms */
  readonly sink?: ArchiveSink | undefined
}

const archiveShapes: ShapesOf<ArchiveOptions> = { sink: callback }

/**
 * Hands the turns of all rooms that have ended since the last time to a sink. A room where that fails is reported, and tried
 * again the next time.
 *
 * @returns how many rooms had something to archive, and were
 */
export async function matrixArchiveAll(sessions: MatrixSessions, options: ArchiveOptions = {}): Promise<number> {
  const given = { wanted: 'what matrixSessions() gives', fits: (value: unknown) => value instanceof RoomSessions }
  refuseMisfit('matrixArchiveAll', 'sessions', sessions, given)
  checkOptions('matrixArchiveAll', options, archiveShapes)
  return archiveRooms(sessions as RoomSessions, options)
}

async function archiveRooms(sessions: RoomSessions, { sink }: ArchiveOptions): Promise<number> {
  const { cwd, env } = sessions.options
  const onNotice = noticesTo(sessions.options.onNotice)
  const keep = sink ?? archiveFile(join(folders(env, cwd).data, 'archive'))
  let count = 0
  for (const room of await sessions.list()) {
    try {
      const turns = await endedTurns(sessions.transcript(room.key), room.archivedThrough)
      const last = turns.at(-1)
      if (last === undefined) continue
      await keep({ ...room, turns })
      await sessions.records.update(room.roomId, { archivedThrough: last.turn })
      count++
    } catch (error) {
      onNotice(`The room ${room.name ?? room.roomId} was not archived: ${thrownMessage(error)}`)
    }
  }
  return count
}

/** Options of `matrixRequestFlush`. */
export interface FlushOptions {
  /** Where folders are looked up. @default the environment of the process */
  readonly env?: NodeJS.ProcessEnv | undefined
}

const flushShapes: ShapesOf<FlushOptions> = { env: environment }

/**
 * Asks the running `matrixRun` to archive, which it does after its present sync: it finds the file `archive.signal` in the
 * state folder. Gives the path of that file, which is gone once it was seen.
 */
export async function matrixRequestFlush(options: FlushOptions = {}): Promise<string> {
  checkOptions('matrixRequestFlush', options, flushShapes)
  const path = join(folders(options.env).state, 'archive.signal')
  await writePrivateFile(path, '')
  return path
}

/** Archives if that was asked for. The request is taken away first: one that is made meanwhile is the next. */
export async function archiveFlushed(
  sessions: RoomSessions,
  { state }: Folders,
  options: ArchiveOptions,
): Promise<void> {
  const asked = join(state, 'archive.signal')
  const taken = join(state, 'archive.signal.taken')
  await ifThere(asked, rename(asked, taken))
  // Also one that was taken by a program that ended before it was done.
  if ((await readIfThere(taken)) === undefined) return
  await archiveRooms(sessions, options)
  await rm(taken, { force: true })
}
