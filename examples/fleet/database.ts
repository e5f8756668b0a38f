/** A database to try things in. */
export interface Database {
  readonly url: string
  readonly close: () => Promise<void>
}

/** @param named the address of one. @default a server of its own, which the tests of this repository bring along */
export async function openDatabase(named: string | undefined): Promise<Database> {
  if (named !== undefined) return { url: named, close: async () => undefined }
  const { PostgresServer } = await import('../../test/parts/postgres/server.ts')
  const server = await PostgresServer.start()
  return { url: server.url(), close: () => server.stop() }
}
