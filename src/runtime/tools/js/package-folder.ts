import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { contains } from '../../../tools/files/leads-to.ts'

const names = () => z.record(z.string(), z.string()).catch({})
const text = () => z.string().optional().catch(undefined)

/** What is read of a `package.json`; wrong fields count as absent. */
const manifestSchema = z.object({
  name: text(),
  version: text(),
  description: text(),
  types: text(),
  typings: text(),
  main: text(),
  exports: z.unknown().optional(),
  dependencies: names(),
  devDependencies: names(),
  peerDependencies: names(),
  optionalDependencies: names(),
})

export type Manifest = z.infer<typeof manifestSchema>

/** An installed package. */
export interface PackageFolder {
  readonly name: string
  /** Real path. */
  readonly folder: string
  readonly manifest: Manifest
}

const maxManifestBytes = 1_000_000
const maxFileBytes = 2_000_000

/** A specifier of an import: `@scope/name/sub/path`. `undefined` for paths, URLs and what no package is named. */
export function readSpecifier(specifier: string): { readonly name: string; readonly subpath: string } | undefined {
  const [, name, rest = ''] = /^((?:@[\w.~-]+\/)?[\w.~-]+)(\/.*)?$/.exec(specifier) ?? []
  if (name === undefined || /^\.+$/.test(name) || /(^|\/)\.+(\/|$)/.test(specifier)) return undefined
  return { name, subpath: rest === '' ? '.' : `.${rest}` }
}

/** Finds a package as Node does: in `node_modules` of a folder or one above, or the one that the folder belongs to. */
export async function findPackage(name: string, from: string): Promise<PackageFolder | undefined> {
  for (const folder of foldersUp(from)) {
    for (const place of [folder, join(folder, 'node_modules', name)]) {
      const manifest = await readManifest(place)
      if (manifest !== undefined && (place !== folder || manifest.name === name))
        return { name, folder: await realpath(place), manifest }
    }
  }
  return undefined
}

/** The nearest folder with a `package.json`, from a folder upwards. */
export async function nearestManifest(
  from: string,
): Promise<{ readonly folder: string; readonly manifest: Manifest } | undefined> {
  for (const folder of foldersUp(from)) {
    const manifest = await readManifest(folder)
    if (manifest !== undefined) return { folder, manifest }
  }
  return undefined
}

/** The text of a regular file inside a folder, links resolved; `undefined` if it is not there, or larger than 2 MB. */
export async function readInside(folder: string, path: string, maxBytes = maxFileBytes): Promise<string | undefined> {
  try {
    const real = await realpath(path)
    if (!contains(folder, real)) return undefined
    const { size } = await stat(real)
    const isRegular = (await stat(real)).isFile()
    return isRegular && size <= maxBytes ? await readFile(real, 'utf8') : undefined
  } catch {
    return undefined
  }
}

async function readManifest(folder: string): Promise<Manifest | undefined> {
  try {
    const real = await realpath(folder)
    const json = await readInside(real, join(real, 'package.json'), maxManifestBytes)
    return json === undefined ? undefined : manifestSchema.safeParse(JSON.parse(json)).data
  } catch {
    return undefined
  }
}

function foldersUp(from: string): string[] {
  const folders = [from]
  for (let folder = from; dirname(folder) !== folder; folder = dirname(folder)) folders.push(dirname(folder))
  return folders
}
