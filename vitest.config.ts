import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { readFolders } from './test/architecture/source-file.ts'

const minuteMs = 60_000
/** Of a test. In CI the machine may be busy with other things, and a test that waits for itself fails there all the same. */
const timeoutMs = process.env['CI'] === undefined ? minuteMs / 3 : minuteMs

/** A process a file: these weigh what a process holds, or are about what all of it shares. */
const apart = [
  'test/contracts/stores*.test.ts',
  'test/fuzz/*.test.ts',
  'test/behaviour/sessions/keeping-results.test.ts',
  'test/behaviour/sessions/process-pool.test.ts',
  'test/sim/bad-input.test.ts',
  'test/sim/sweep.test.ts',
  'test/systems/small-world.test.ts',
  'test/tools/read-file.test.ts',
  'test/world/memory.test.ts',
]

/**
 * Tests with parts beside Node, and programs that are killed or take long: each folder of `test/parts` is a project of its own,
 * and `--mode parts` runs them.
 */
const parts = ['inspector', 'mcp', 'postgres', 'processes', 'sandbox', 'terminal'] as const

/** Those that begin with something of their own. */
const withSetup: ReadonlySet<string> = new Set(['postgres', 'sandbox'])

/** What takes longest: stories over many seeds, and programs that are waited for. Begun last, it would be waited for alone. */
const long = /\/test\/(?:cli|stories)\//

/** Where nothing is known of an earlier run, vitest goes by the sizes of files, which say little here. */
class LongOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project)
    return [...byProject.values()].flatMap((group) => {
      const { first = [], others = [] } = Object.groupBy(group, ({ moduleId }) =>
        long.test(moduleId) ? 'first' : 'others',
      )
      return [...first, ...others]
    })
  }
}

/**
 * `vitest run` tests the sources. `vitest run --mode dist` tests what `npm run build` made of them, with all tests that
 * know the package by its names alone. `vitest run --mode parts` tests with the parts in `test/parts`.
 */
export default defineConfig(({ mode }) => {
  const isBuilt = mode === 'dist'
  const include = isBuilt ? testsByName() : ['test/**/*.test.ts', 'examples/*.test.ts']
  return {
    // Not 'import', which Node would take for what is required too: `pg` cannot be loaded then.
    ssr: { resolve: { conditions: [...(isBuilt ? [] : ['entia-source']), 'node'] } },
    test: {
      env: {
        // Programs that tests start find the same as they do, and what was compiled for one of them serves all.
        ...(isBuilt ? {} : { NODE_OPTIONS: '--conditions=entia-source' }),
        NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/programs'),
      },
      // What is built is loaded by Node, as it is.
      server: { deps: { external: [/\/dist\//] } },
      setupFiles: ['test/setup.ts'],
      pool: 'forks',
      sequence: { sequencer: LongOnesFirst },
      projects:
        mode === 'parts'
          ? parts.map((name) => ({
              extends: true,
              test: {
                name,
                include: [`test/parts/${name}/*.test.ts`],
                globalSetup: withSetup.has(name) ? [`test/parts/${name}/global-setup.ts`] : [],
                testTimeout: minuteMs,
                // A browser or a process on a busy machine needs longer than the second that is usual.
                expect: { poll: { timeout: minuteMs / 4 } },
              },
            }))
          : [
              // What was loaded and compiled for one file serves those that come after it in the same process.
              {
                extends: true,
                test: { name: 'together', include, exclude: [...apart, 'test/parts/**'], isolate: false },
              },
              { extends: true, test: { name: 'apart', include: isBuilt ? [] : apart, isolate: true } },
            ],
      maxWorkers: '100%',
      testTimeout: process.env['SIM_SEEDS'] === undefined ? timeoutMs : 90 * minuteMs,
      hookTimeout: timeoutMs,
      expect: { poll: { timeout: timeoutMs / 2 } },
    },
  }
})

/** Test files that load no source by its path, nor does any file of tests that they load. */
function testsByName(): string[] {
  const files = new Map(readFolders('test').map((file) => [file.path, file]))
  const loadsSource = (path: string): boolean =>
    (files.get(path)?.imports ?? []).some(
      ({ target, relative, loaded }) =>
        relative && loaded !== 'never' && (/^(src|components|systems)\//.test(target) || loadsSource(target)),
    )
  return [...files.keys()].filter((path) => path.endsWith('.test.ts') && !loadsSource(path))
}
