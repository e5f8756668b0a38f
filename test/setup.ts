import { format } from 'node:util'
import { afterAll, afterEach, expect } from 'vitest'
import { checkMade } from '../src/world/made.ts'

// What systems write unchecked is checked here.
checkMade()

// Fails a test that writes to the console, and a file that does so outside of its tests. Node's warnings come this way
// too: a leaked listener or a deprecated call does not just scroll by. Unhandled rejections fail the run by themselves.
const written: string[] = []

for (const name of ['debug', 'dir', 'error', 'info', 'log', 'table', 'trace', 'warn'] as const) {
  console[name] = (...parts: unknown[]) => void written.push(`console.${name}: ${format(...parts)}`)
}
for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (chunk: string | Uint8Array) => {
    if (chunk.length > 0) written.push(`process.${name}: ${String(chunk)}`)
    return true
  }
}

function expectSilence(): void {
  expect(written.splice(0), 'nothing is written to the console').toEqual([])
}

afterEach(expectSilence)
afterAll(expectSilence)
