#!/usr/bin/env node
import manifest from '../../package.json' with { type: 'json' }

// Prints the version without loading anything else. Later chunks import this one, so it must not await them.
if (process.argv.slice(2, 4).includes('--version')) process.stdout.write(`${manifest.version}\n`)
else void start().then((exitCode) => (process.exitCode = exitCode))

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
