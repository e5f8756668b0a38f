import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SessionSandbox } from '../../src/runtime/sandbox/session-sandbox.ts'

// Prints why there is no sandbox here; nothing, where there is one.
const cwd = mkdtempSync(join(tmpdir(), 'entia-files-'))
const folders = { config: join(cwd, 'c'), data: join(cwd, 'd'), cache: join(cwd, 'e'), state: join(cwd, 'f') }
const sandbox = await SessionSandbox.open({ mode: 'auto', cwd, home: cwd, folders, config: {} })
if (!(await sandbox.isThere())) process.stdout.write(sandbox.missing ?? 'unknown')
await sandbox.close()
rmSync(cwd, { recursive: true })
