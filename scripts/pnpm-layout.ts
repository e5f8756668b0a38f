import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { root } from './printed.ts'

interface Manifest {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/**
 * Lays out a project's packages as pnpm does: each package is a real folder in a store, beside links to its own dependencies
 * and peers, and the project sees those alone that it names. The store is outside of the project (pnpm's global virtual
 * store), so that no package can load what only the project has. Nothing is downloaded: this project has them all.
 */
export class PnpmLayout {
  readonly #store: string
  readonly #modules: string
  /** Folders of packages by name. */
  readonly #placed = new Map<string, string>()

  /** Two folders with no packages in them or above. */
  constructor({ store, project }: { readonly store: string; readonly project: string }) {
    this.#store = store
    this.#modules = join(project, 'node_modules')
  }

  /** Lets the project itself see a package. @param from where its files are. @default in this project's `node_modules` */
  async install(name: string, from?: string): Promise<void> {
    await link(await this.#place(name, from), join(this.#modules, name))
  }

  async #place(name: string, from = join(root, 'node_modules', name)): Promise<string> {
    const there = this.#placed.get(name)
    if (there !== undefined) return there
    const manifest = JSON.parse(await readFile(join(from, 'package.json'), 'utf8')) as Manifest
    const modules = join(this.#store, `${name.replace('/', '+')}@${manifest.version}`, 'node_modules')
    const home = join(modules, name)
    this.#placed.set(name, home)
    await cp(from, home, { recursive: true })
    for (const needed of neededBy(manifest)) await link(await this.#place(needed), join(modules, needed))
    return home
  }
}

/** What a package may load: its dependencies, and zod where it is a peer. The program has no test runner. */
function neededBy({ dependencies, peerDependencies }: Manifest): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => name === 'zod')
  return [...Object.keys(dependencies ?? {}), ...peers]
}

/** A relative link, as pnpm makes them. Programs and types resolve from where it leads, not from where it is. */
async function link(to: string, at: string): Promise<void> {
  await mkdir(dirname(at), { recursive: true })
  await symlink(relative(dirname(at), to), at)
}
