import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { root } from './docs/declarations.ts'
import { pages } from './docs/pages.ts'

/** Writes the pages of docs/ that are made from the source. test/generated-docs.test.ts fails when one is stale. */
for (const [path, make] of Object.entries(pages)) {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), make())
}
