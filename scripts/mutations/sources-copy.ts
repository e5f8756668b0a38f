import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Mutation } from './mutation.ts'

const copied = ['package.json', 'vitest.config.ts', 'src', 'components', 'systems', 'scripts', 'test']

/** A copy of the sources in a folder of its own, in which bugs can be planted. */
export class SourcesCopy {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async of(root: string): Promise<SourcesCopy> {
    const folder = await mkdtemp(join(tmpdir(), 'entia-mutations-'))
    for (const path of copied) await cp(join(root, path), join(folder, path), { recursive: true })
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    return new SourcesCopy(folder)
  }

  /** Plants a bug. Gives a function that takes it out again. @throws if the text that it changes is not there once */
  async plant({ after, before, file, name }: Mutation): Promise<() => Promise<void>> {
    const path = join(this.folder, file)
    const source = await readFile(path, 'utf8')
    const count = source.split(before).length - 1
    if (count !== 1) {
      throw new Error(`Mutation '${name}': ${file} must have this text exactly once, got ${count} times:\n${before}`)
    }
    await writeFile(
      path,
      source.replace(before, () => after),
    )
    return () => writeFile(path, source)
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}
