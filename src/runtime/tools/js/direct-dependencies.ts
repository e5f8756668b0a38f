import type { ToolOutput } from '../../../tools/port.ts'
import { errorOutput } from '../../../tools/tool-output.ts'
import { cleanName } from '../../../tools/files/clean-text.ts'
import { findPackage, nearestManifest } from './package-folder.ts'

export interface PackagesRequest {
  readonly pattern?: string | undefined
  readonly limit: number
}

const kinds = {
  dependencies: 'dependency',
  devDependencies: 'dev',
  peerDependencies: 'peer',
  optionalDependencies: 'optional',
} as const

/** Does the work of `installed_packages`. */
export async function directDependencies(
  { pattern, limit }: PackagesRequest,
  cwd: string,
): Promise<string | ToolOutput> {
  const project = await nearestManifest(cwd)
  if (project === undefined) return errorOutput(`There is no package.json in ${cwd} or in a folder above.`)
  const declared = new Map<string, { readonly range: string; readonly kinds: string[] }>()
  for (const [key, kind] of Object.entries(kinds)) {
    for (const [name, range] of Object.entries(project.manifest[key as keyof typeof kinds])) {
      const known = declared.get(name)
      if (known === undefined) declared.set(name, { range, kinds: [kind] })
      // npm writes an optional dependency in both lists.
      else if (kind === 'optional') known.kinds[0] = kind
      else known.kinds.push(kind)
    }
  }
  const fits = pattern === undefined ? () => true : matcher(pattern)
  const names = [...declared.keys()].filter(fits).sort()
  if (names.length === 0) return pattern === undefined ? '[no dependencies]' : '[no dependency fits]'
  const lines = names.slice(0, limit).map(async (name) => {
    const { range, kinds: all } = declared.get(name) ?? { range: '', kinds: [] }
    const found = await findPackage(name, project.folder)
    const version = found === undefined ? `[missing] ${range}` : (found.manifest.version ?? '[no version]')
    return cleanName(`${name} ${version} (${all.join(', ')})`)
  })
  const shown = await Promise.all(lines)
  if (names.length > limit) shown.push(`[${limit} of ${names.length} shown]`)
  return shown.join('\n')
}

function matcher(pattern: string): (name: string) => boolean {
  const parts = pattern.toLowerCase().split('*')
  if (parts.length === 1) return (name) => name.toLowerCase().includes(pattern.toLowerCase())
  return (name) => {
    // Each part behind the one before: the first at the beginning, the last at the end.
    let at = 0
    for (const [index, part] of parts.entries()) {
      const found = index === 0 ? 0 : name.toLowerCase().indexOf(part, at)
      if (found === -1 || !name.toLowerCase().startsWith(part, found)) return false
      at = found + part.length
    }
    return name.toLowerCase().endsWith(parts.at(-1) ?? '') && at <= name.length
  }
}
