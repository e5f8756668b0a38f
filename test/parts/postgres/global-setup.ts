import type { TestProject } from 'vitest/node'
import { PostgresServer } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Of a database whose role may do everything. */
    readonly postgres: string
  }
}

/** One server for all tests of the project, or the one that `ENTIA_TEST_POSTGRES` names. */
export default async function start(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const named = process.env['ENTIA_TEST_POSTGRES']
  if (named !== undefined) {
    project.provide('postgres', named)
    return undefined
  }
  const server = await PostgresServer.start()
  project.provide('postgres', server.url())
  return () => server.stop()
}
