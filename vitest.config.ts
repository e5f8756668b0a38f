import { existsSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { defineConfig } from 'vitest/config'
import type { Plugin } from 'vitest/config'

const minuteMs = 60_000

/** `vitest run` tests the sources; `vitest run --mode dist` runs the same tests against what `npm run build` made of them. */
export default defineConfig(({ mode }) => ({
  plugins: mode === 'dist' ? [builtFiles()] : [],
  ssr: { resolve: { conditions: mode === 'dist' ? ['node', 'import'] : ['source', 'node', 'import'] } },
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    // A process a file: locks are held by process, and a crash takes no other file with it.
    pool: 'forks',
    maxWorkers: '100%',
    testTimeout: process.env['SIM_SEEDS'] === undefined ? 10_000 : 90 * minuteMs,
    hookTimeout: 10_000,
  },
}))

/** Sends an import of one of our sources, by whatever path, to the file that was built from it. */
function builtFiles(): Plugin {
  return {
    name: 'built-files',
    enforce: 'pre',
    resolveId(specifier, importer) {
      if (importer === undefined || !specifier.startsWith('.')) return null
      const source = relative(import.meta.dirname, resolve(importer, '..', specifier))
      if (!['src', 'components', 'systems'].includes(source.split(sep)[0] ?? '')) return null
      const built = resolve(import.meta.dirname, 'dist', source.replace(/\.ts$/, '.js'))
      if (!existsSync(built)) throw new Error(`Nothing was built from ${source}. Run \`npm run build\` first.`)
      return built
    },
  }
}
