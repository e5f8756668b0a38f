import { readdir } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join, relative } from 'node:path'
import { cutText } from '../../../base/cut-text.ts'
import { didYouMean } from '../../../base/near-names.ts'
import { cleanText } from '../../../tools/files/clean-text.ts'
import type { ToolContext, ToolOutput } from '../../../tools/port.ts'
import { errorOutput } from '../../../tools/tool-output.ts'
import { type DeclarationFile, firstFile, packageTypes } from './declaration-file.ts'
import { membersOf, sentenceOf, signatureOf, wholeOf } from './declaration-text.ts'
import { Declarations, type Export, type Scope } from './declarations.ts'
import { findPackage, nearestManifest, type PackageFolder, readInside, readSpecifier } from './package-folder.ts'

export interface HelpRequest {
  readonly package: string
  readonly symbol?: string | undefined
}

/** Most exports that are listed. */
const maxListed = 300
const maxReadmeLines = 40
const maxReadmeChars = 4_000

/** What the declarations of a package are found in. */
interface Found {
  /** What was asked for, with its version. */
  readonly title: string
  readonly package: PackageFolder
  readonly file: DeclarationFile | undefined
  /** `declare module` with one of these names, if it is there. */
  readonly names: readonly string[]
  readonly isNode: boolean
}

/** Does the work of `js_help`. */
export async function packageHelp(
  { package: specifier, symbol }: HelpRequest,
  cwd: string,
  { signal }: ToolContext,
): Promise<string | ToolOutput> {
  const found = await find(specifier, cwd)
  if (typeof found === 'string') return errorOutput(found)
  signal.throwIfAborted()
  const declarations = new Declarations()
  const scopes = scopesOf(found, declarations)
  const exports = new Map<string, Export>()
  for (const scope of scopes) for (const [name, one] of await declarations.exportsOf(scope)) exports.set(name, one)
  signal.throwIfAborted()
  if (symbol !== undefined) return symbolHelp(symbol, exports, declarations, found)
  const parts = [found.title]
  if (found.file === undefined) parts.push('[no type declarations found]')
  else parts.push(`Declarations: ${relative(cwd, found.file.path)}`, '', ...listing(exports))
  if (declarations.isCut) parts.push('[there are more declarations than are read]')
  const readme = found.isNode ? '' : await readmeHead(found.package)
  if (readme !== '') parts.push('', 'README:', readme)
  return cleanText(parts.join('\n'))
}

/** Gives a problem if there is no such package. */
async function find(specifier: string, cwd: string): Promise<Found | string> {
  if (isBuiltin(specifier)) {
    const bare = specifier.replace(/^node:/, '')
    const types = await findPackage('@types/node', cwd)
    if (types === undefined)
      return `${specifier} is part of Node.js; its declarations are in @types/node, which is not installed.`
    return {
      title: `node:${bare} (@types/node ${types.manifest.version ?? ''})`,
      package: types,
      file: await firstFile(types, [join(types.folder, `${bare}.d.ts`)]),
      names: [bare, `node:${bare}`],
      isNode: true,
    }
  }
  const named = readSpecifier(specifier)
  const shown = cutText(cleanText(specifier), 100, '…')
  if (named === undefined) return `'${shown}' names no package. Give it as in an import, such as zod or @scope/name.`
  const found = await findPackage(named.name, cwd)
  if (found === undefined) {
    const { dependencies = {}, devDependencies = {} } = (await nearestManifest(cwd))?.manifest ?? {}
    const hint = didYouMean(named.name, Object.keys({ ...dependencies, ...devDependencies }))
    return `There is no package '${shown}' in node_modules of ${cwd} or of a folder above.${hint}`
  }
  const { version, description } = found.manifest
  return {
    title: `${specifier} ${version ?? ''}${description === undefined ? '' : `: ${cutText(description, 300, '…')}`}`,
    package: found,
    file: await packageTypes(found, named.subpath, cwd),
    names: [specifier],
    isNode: false,
  }
}

function scopesOf({ file, names }: Found, declarations: Declarations): Scope[] {
  const scope = file && declarations.fileScope(file)
  if (scope === undefined) return []
  const ambient = declarations.ambient(scope, names)
  return ambient.length > 0 ? ambient : [scope]
}

function listing(exports: ReadonlyMap<string, Export>): string[] {
  const lines = [...exports].slice(0, maxListed).map(([name, one]) => lineOf(name, one))
  if (exports.size === 0) lines.push('[no exports found]')
  if (exports.size > maxListed) lines.push(`[${maxListed} of ${exports.size} shown; symbol gives any of them]`)
  return lines
}

function lineOf(name: string, { declared }: Export): string {
  const [first] = declared
  if (first === undefined) return `${name}: namespace`
  const overloads = declared.filter(({ node }) => node.type === first.node.type).length - 1
  const more = overloads > 0 ? ` (and ${overloads} more)` : ''
  const sentence = declared.map(sentenceOf).find((one) => one !== undefined)
  const prefix = name === first.name ? '' : `${name}: `
  return `${prefix}${signatureOf(first)}${more}${sentence === undefined ? '' : ` — ${sentence}`}`
}

/** About one export, or a member of one. */
async function symbolHelp(
  symbol: string,
  exports: ReadonlyMap<string, Export>,
  declarations: Declarations,
  { title }: Found,
): Promise<string | ToolOutput> {
  const [first = '', ...rest] = symbol.replace(/\(\)$/, '').split(/[.#]/)
  let name = first
  let known = exports
  let found = exports.get(first) ?? (first === 'default' ? exports.get('export =') : byOwnName(first, exports))
  for (const next of rest) {
    if (found === undefined) break
    const inner = new Map<string, Export>()
    for (const scope of found.scopes) for (const [key, one] of await declarations.exportsOf(scope)) inner.set(key, one)
    const members = new Map(found.declared.flatMap((one) => [...membersOf(one)]))
    const text = members.get(next)
    if (text !== undefined && !inner.has(next)) return cleanText(`${title}\n\n${name}.${next}:\n${text}`)
    if (!inner.has(next)) return unknown(next, name, [...inner.keys(), ...members.keys()])
    known = inner
    found = inner.get(next)
    name = `${name}.${next}`
  }
  if (found === undefined) return unknown(first, title.split(' ')[0] ?? '', known.keys())
  const inside = new Map<string, Export>()
  for (const scope of found.scopes) for (const [key, one] of await declarations.exportsOf(scope)) inside.set(key, one)
  const own = found.declared.filter(({ node }) => node.type !== 'TSModuleDeclaration').map(wholeOf)
  const parts = [title, '', ...own]
  if (inside.size > 0) parts.push(`namespace ${name}:`, ...listing(inside))
  return cleanText(parts.join('\n'))
}

/** A default export has a name of its own, too. */
function byOwnName(name: string, exports: ReadonlyMap<string, Export>): Export | undefined {
  return [...exports.values()].find(({ declared }) => declared.some((one) => one.name === name))
}

function unknown(name: string, where: string, known: Iterable<string>): ToolOutput {
  const names = [...known]
  const begin = names.filter((one) => one.toLowerCase().includes(name.toLowerCase())).slice(0, 10)
  const hint = didYouMean(name, names) || (begin.length === 0 ? '' : ` There are ${begin.join(', ')}.`)
  return errorOutput(`${where} has no '${cutText(cleanText(name), 100, '…')}'.${hint}`)
}

async function readmeHead({ folder }: PackageFolder): Promise<string> {
  const names = await readdir(folder).catch(() => [])
  const name = names.find((one) => /^readme(\.(md|markdown|txt))?$/i.test(one))
  const text = name === undefined ? undefined : await readInside(folder, join(folder, name))
  if (text === undefined) return ''
  const lines = text.split('\n').slice(0, maxReadmeLines)
  return cutText(lines.join('\n').trim(), maxReadmeChars, '…')
}
