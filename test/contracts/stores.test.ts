import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, sqliteStore } from 'entia'
import { onTestFinished } from 'vitest'
import { describeStores } from './stores-suite.ts'

describeStores([
  { name: 'memory', make: memoryStore },
  {
    name: 'sqlite',
    make: () => {
      const folder = mkdtempSync(join(tmpdir(), 'entia-stores-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      return sqliteStore({ folder, synchronous: 'normal' })
    },
  },
])
