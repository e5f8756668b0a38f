#!/usr/bin/env node
import manifest from '../../package.json' with { type: 'json' }

/** What shells show of a program that wrote to a closed pipe. */
const closedPipeCode = 141
let isOutputClosed = false

// A reader that has enough, such as `head`, ends the program quietly; a command that stops its work first listens as well.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' && error.code !== 'EIO') {
    process.stderr.write(`entia: The output cannot be written: ${error.message}\n`)
    process.exit(1)
  }
  isOutputClosed = true
  process.exitCode = closedPipeCode
  if (process.stdout.listenerCount('error') === 1) process.exit()
})
process.stderr.on('error', () => undefined)

// Prints the version without loading anything else. Later chunks import this one, so it must not await them.
if (process.argv.slice(2, 4).includes('--version')) process.stdout.write(`${manifest.version}\n`)
else void start().then((exitCode) => (process.exitCode = isOutputClosed ? closedPipeCode : exitCode))

async function start(): Promise<number | undefined> {
  const needed = manifest.engines.node.replace('>=', '')
  if (process.versions.node.localeCompare(needed, 'en', { numeric: true }) < 0) {
    process.stderr.write(`entia: Node ${needed} or newer is needed, and this is ${process.versions.node}.\n`)
    return 1
  }
  const { enableCompileCache } = await import('node:module')
  // What was compiled once is loaded faster the next time.
  enableCompileCache()
  const { main } = await import('./program.ts')
  return main()
}
