/** An agent in chat rooms, by a Matrix account. It needs the package `matrix-js-sdk`, which users install themselves. */

export { type ArchiveOptions, type FlushOptions, matrixArchiveAll, matrixRequestFlush } from './archive.ts'
export type { ArchivedRoom, ArchivedTurn, ArchiveSink } from './archived-turns.ts'
export { type Configured, type ConfigureOptions, matrixConfigure } from './matrix-config.ts'
export { matrixPoll, type PollOptions } from './matrix-poll.ts'
export { matrixRun, type RunOptions } from './matrix-run.ts'
export { matrixSend, type SendOptions } from './matrix-send.ts'
export { type MatrixRoom, type MatrixSessionOptions, type MatrixSessions, matrixSessions } from './room-sessions.ts'
