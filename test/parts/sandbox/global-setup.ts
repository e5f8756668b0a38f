import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    readonly hasSandbox: boolean
  }
}

/** Says once where nothing of this is tested. */
export default async function setup(project: TestProject): Promise<void> {
  const program = join(import.meta.dirname, '../../programs/sandbox-there.ts')
  const { stdout: why } = await promisify(execFile)(process.execPath, ['--conditions=entia-source', program])
  if (why !== '') process.stdout.write(`sandbox: not tested here. ${why}\n`)
  project.provide('hasSandbox', why === '')
}
