import { join } from 'node:path'
import { findPackage, type PackageFolder, readInside } from './package-folder.ts'

/** A file with declarations, of a package. */
export interface DeclarationFile {
  readonly package: PackageFolder
  readonly path: string
  readonly text: string
}

/** Conditions of `exports` that count, whichever comes first in it. */
const conditions = new Set(['types', 'import', 'node', 'module-sync', 'require', 'default'])

const maxDepth = 10

/** The file with the declarations of a package, or of a part of it, in the package itself or in `@types`. */
export async function packageTypes(
  found: PackageFolder,
  subpath: string,
  from: string,
): Promise<DeclarationFile | undefined> {
  const own = await firstFile(found, placesOf(found, subpath))
  if (own !== undefined || found.name.startsWith('@types/')) return own
  const apart = await findPackage(`@types/${found.name.replace(/^@(.+)\/(.+)$/, '$1__$2')}`, from)
  return apart && firstFile(apart, placesOf(apart, subpath))
}

/** The first of these files that is there; each path as a program imports it. */
export async function firstFile(found: PackageFolder, paths: readonly string[]): Promise<DeclarationFile | undefined> {
  for (const path of paths.flatMap(declarationsFor)) {
    const text = await readInside(found.folder, path)
    if (text !== undefined) return { package: found, path, text }
  }
  return undefined
}

function placesOf({ folder, manifest }: PackageFolder, subpath: string): string[] {
  const { exports, types, typings, main } = manifest
  const exported = exports === undefined || exports === null ? [] : targets(exports, subpath)
  const named = subpath === '.' ? [types, typings, main, 'index.d.ts'] : [subpath]
  return [...exported, ...named].filter((path) => path !== undefined).map((path) => join(folder, path))
}

/** Files that `exports` names for a subpath, those for types first. */
function targets(exports: unknown, subpath: string): string[] {
  const isMap =
    typeof exports === 'object' && exports !== null && Object.keys(exports).some((key) => key.startsWith('.'))
  if (!isMap) return subpath === '.' ? leaves(exports, 0) : []
  const map = exports as Readonly<Record<string, unknown>>
  if (Object.hasOwn(map, subpath)) return leaves(map[subpath], 0)
  for (const [key, target] of Object.entries(map)) {
    const [before = '', after] = key.split('*')
    if (after === undefined || !subpath.startsWith(before) || !subpath.endsWith(after)) continue
    const part = subpath.slice(before.length, subpath.length - after.length)
    return leaves(target, 0).map((path) => path.replaceAll('*', part))
  }
  return []
}

function leaves(target: unknown, depth: number): string[] {
  if (typeof target === 'string') return [target]
  if (typeof target !== 'object' || target === null || depth > maxDepth) return []
  if (Array.isArray(target)) return target.flatMap((one) => leaves(one, depth + 1))
  return Object.entries(target).flatMap(([condition, one]) => (conditions.has(condition) ? leaves(one, depth + 1) : []))
}

/** Where the declarations of a file may lie. */
function declarationsFor(path: string): string[] {
  if (/\.[cm]?tsx?$/.test(path)) return [path, path.replace(/\.([cm]?)tsx?$/, '.d.$1ts')]
  const [, stem = path, module] = /^(.*)\.([cm]?)jsx?$/.exec(path) ?? []
  if (module !== undefined) return [`${stem}.d.${module}ts`, `${stem}.${module}ts`, `${stem}.tsx`]
  return [`${path}.d.ts`, `${path}.ts`, `${path}.d.mts`, join(path, 'index.d.ts'), join(path, 'index.ts')]
}
