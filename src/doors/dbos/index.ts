/** Sessions of a fleet in a queue of DBOS Transact. It needs the packages `@dbos-inc/dbos-sdk` and `pg`, which users install themselves. */

export { dbosDispatcher, dbosDispatcherDefaults, type DbosDispatcherOptions } from './dbos-dispatcher.ts'
