#!/usr/bin/env node
import manifest from '../../package.json' with { type: 'json' }

// The version is printed without loading anything else. Parts of the program that are loaded later share files with this
// one, so they must not have to wait for it.
if (process.argv[2] === '--version') process.stdout.write(`${manifest.version}\n`)
else void import('./program.ts').then(async ({ main }) => (process.exitCode = await main()))
