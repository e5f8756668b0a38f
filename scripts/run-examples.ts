import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { endingOf, report, root, wrongAbout } from './printed.ts'

/**
 * Runs each program of `examples/` (`npm test` runs those named `.test.ts`) and compares its output with the comment at its end:
 *
 *     /*
 *     Prints:
 *     The answer is 5.
 *     That took … ms.
 *     *\/
 *
 * `…` stands for anything within a line. What is started with options says `Prints with --size 10:`. An example that cannot run without a key, or without a person, says so there
 * instead: `Not run: it asks a real model.`
 */
const results = new Map<string, string | undefined>()
const names = (await readdir(join(root, 'examples'))).filter((file) => file.endsWith('.ts')).toSorted()
for (const name of names.filter((file) => !file.endsWith('.test.ts'))) {
  const path = join('examples', name)
  const { kind, options, said } = await endingOf(path)
  if (kind === 'Not run' && said !== '') console.log(`- ${path} is not run: ${said}`)
  else if (kind === 'Prints') results.set(path, await wrongAbout(path, said, { options }))
  else results.set(path, 'It does not end in a comment that starts with `Prints:` and says what it prints.')
}
report('examples', results)
