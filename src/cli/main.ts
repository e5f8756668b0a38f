#!/usr/bin/env node
import manifest from '../../package.json' with { type: 'json' }

// Prints the version without loading anything else. Later chunks import this one, so it must not await them.
if (process.argv[2] === '--version') process.stdout.write(`${manifest.version}\n`)
else void import('./program.ts').then(async ({ main }) => (process.exitCode = await main()))
