import { dirname, join, resolve } from 'node:path'
import { type DeclarationFile, firstFile, packageTypes } from './declaration-file.ts'
import type { Declared, SourceText } from './declaration-text.ts'
import { findPackage, readSpecifier } from './package-folder.ts'
import { type Statement, syntaxTree } from './syntax-tree.ts'

/** Most files that one question reads. */
const maxFiles = 300
const maxTotalChars = 10_000_000
/** Longest chain of exports of exports. */
const maxDepth = 20

/** Statements that declare and export: of a file, a namespace, or `declare module`. */
export interface Scope {
  readonly file: DeclarationFile
  readonly source: SourceText
  readonly body: readonly Statement[]
  /** What is declared is exported, too. */
  readonly isOpen: boolean
}

/** What a name stands for. */
export interface Export {
  readonly declared: readonly Declared[]
  /** Its own exports, if it is a namespace. */
  readonly scopes: readonly Scope[]
}

/** Where a name of a scope comes from. */
type Origin =
  | { readonly local: string }
  | { readonly from: string; readonly name: string }
  | { readonly from: string; readonly isWhole: true }

/** Reads declarations of packages, file by file, and follows what they export again. */
export class Declarations {
  readonly #scopes = new Map<string, Scope | undefined>()
  readonly #exports = new Map<Scope, ReadonlyMap<string, Export>>()
  /** Those that are being read. */
  readonly #open = new Set<Scope>()
  /** How often exports were left out, because they are being read. */
  #skipped = 0
  #totalChars = 0
  /** Something was not read, because there is too much. */
  isCut = false

  /** Of a file; `undefined` if it cannot be read, or there are too many. */
  fileScope(file: DeclarationFile): Scope | undefined {
    if (this.#scopes.has(file.path)) return this.#scopes.get(file.path)
    this.#totalChars += file.text.length
    if (this.#scopes.size >= maxFiles || this.#totalChars > maxTotalChars) {
      this.isCut = true
      return undefined
    }
    const tree = syntaxTree(file.text, /\.d\.[cm]?ts$/.test(file.path) ? 'declarations' : 'typescript')
    const body = tree?.program.body ?? []
    const scope = tree && {
      file,
      source: { text: file.text, comments: tree.comments ?? [] },
      body,
      // A script: what it declares is there for all.
      isOpen: !body.some(({ type }) => /^(Import|Export|TSExport|TSImport)/.test(type)),
    }
    this.#scopes.set(file.path, scope)
    return scope
  }

  /** `declare module 'name'` in a scope. */
  ambient(scope: Scope, names: readonly string[]): Scope[] {
    return scope.body.flatMap((node) => {
      if (node.type !== 'TSModuleDeclaration' || node.id.type !== 'StringLiteral' || !names.includes(node.id.value))
        return []
      return blockOf(scope, node)
    })
  }

  /** All that a scope exports, by name, in the order of its statements. */
  async exportsOf(scope: Scope): Promise<ReadonlyMap<string, Export>> {
    const known = this.#exports.get(scope)
    if (known !== undefined) return known
    if (this.#open.has(scope) || this.#open.size > maxDepth) {
      this.#skipped++
      return new Map()
    }
    this.#open.add(scope)
    const skippedBefore = this.#skipped
    const all = new Map<string, Export>()
    for (const node of scope.body) {
      for (const [name, found] of await this.#exportedBy(node, scope)) all.set(name, found)
    }
    for (const node of scope.body) {
      if (node.type !== 'ExportAllDeclaration') continue
      for (const target of await this.#moduleScopes(scope, node.source.value)) {
        for (const [name, one] of await this.exportsOf(target))
          if (name !== 'default' && !all.has(name)) all.set(name, one)
      }
    }
    this.#open.delete(scope)
    // In a circle it may lack what the others export.
    if (this.#skipped === skippedBefore || this.#open.size === 0) this.#exports.set(scope, all)
    return all
  }

  /** What one statement exports, but for `export *`. */
  async #exportedBy(node: Statement, scope: Scope): Promise<(readonly [name: string, found: Export])[]> {
    const isOpen = scope.isOpen && !scope.body.some(({ type }) => type === 'TSExportAssignment')
    const declaration = isOpen || node.type.startsWith('Export') ? declarationIn(node) : undefined
    if (declaration !== undefined) {
      const isDefault = node.type === 'ExportDefaultDeclaration'
      return namesOf(declaration).map((name) => [isDefault ? 'default' : name, this.#local(scope, name)])
    }
    const origins: (readonly [name: string, origin: Origin])[] = []
    if (node.type === 'ExportNamedDeclaration')
      origins.push(...node.specifiers.map((one) => [textOf(one.exported), originOf(one, node.source?.value)] as const))
    else if (node.type === 'ExportDefaultDeclaration' && node.declaration.type === 'Identifier')
      origins.push(['default', { local: node.declaration.name }])
    else if (node.type === 'TSExportAssignment' && node.expression.type === 'Identifier')
      origins.push(['export =', { local: node.expression.name }])
    const found: (readonly [name: string, found: Export])[] = []
    for (const [name, origin] of origins) {
      const one = await this.#find(scope, origin, 0)
      if (one === undefined) continue
      const isAssigned = name === 'export ='
      if (!isAssigned || one.declared.some((each) => each.node.type !== 'TSModuleDeclaration')) found.push([name, one])
      // What the namespace exports, the module does.
      for (const inner of isAssigned ? one.scopes : []) found.push(...(await this.exportsOf(inner)))
    }
    return found
  }

  async #find(scope: Scope, origin: Origin, depth: number): Promise<Export | undefined> {
    if (depth > maxDepth) return undefined
    if ('local' in origin) {
      const local = this.#local(scope, origin.local)
      if (local.declared.length > 0) return local
      const imported = importOf(scope, origin.local)
      return imported && this.#find(scope, imported, depth + 1)
    }
    const targets = await this.#moduleScopes(scope, origin.from)
    if ('isWhole' in origin) return { declared: [], scopes: targets }
    for (const target of targets) {
      const found = (await this.exportsOf(target)).get(origin.name)
      if (found !== undefined) return found
    }
    return undefined
  }

  #local(scope: Scope, name: string): Export {
    const declared: Declared[] = []
    const scopes: Scope[] = []
    for (const outer of scope.body) {
      const node = declarationIn(outer)
      if (node === undefined || !namesOf(node).includes(name)) continue
      declared.push({ source: scope.source, outer, node, name })
      if (node.type === 'TSModuleDeclaration') scopes.push(...blockOf(scope, node))
    }
    return { declared, scopes }
  }

  /** What an import in a scope leads to. */
  async #moduleScopes(scope: Scope, specifier: string): Promise<Scope[]> {
    const { file } = scope
    if (/^\.\.?(\/|$)/.test(specifier)) {
      const found = await firstFile(file.package, [resolve(dirname(file.path), specifier)])
      const target = found && this.fileScope(found)
      return target === undefined ? [] : [target]
    }
    const bare = specifier.replace(/^node:/, '')
    if (file.package.name === '@types/node') {
      const found = await firstFile(file.package, [join(file.package.folder, `${bare}.d.ts`)])
      const target = found && this.fileScope(found)
      if (target !== undefined) return this.ambient(target, [specifier])
    }
    const named = readSpecifier(specifier)
    const next = named && (await findPackage(named.name, dirname(file.path)))
    const found = next && (await packageTypes(next, named.subpath, dirname(file.path)))
    const target = found && this.fileScope(found)
    return target === undefined ? [] : [target]
  }
}

type ModuleDeclaration = Extract<Statement, { readonly type: 'TSModuleDeclaration' }>

function blockOf({ file, source }: Scope, { body }: ModuleDeclaration): Scope[] {
  return body?.type === 'TSModuleBlock' ? [{ file, source, body: body.body, isOpen: true }] : []
}

/** The declaration in a statement, without `export`. */
function declarationIn(node: Statement): Statement | undefined {
  if (node.type === 'ExportNamedDeclaration') return node.declaration ?? undefined
  if (node.type === 'ExportDefaultDeclaration')
    return 'id' in node.declaration ? (node.declaration as Statement) : undefined
  return namesOf(node).length > 0 ? node : undefined
}

function namesOf(node: Statement): string[] {
  switch (node.type) {
    case 'VariableDeclaration':
      return node.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? id.name : []))
    case 'TSModuleDeclaration':
      return node.id.type === 'Identifier' ? [node.id.name] : []
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
    case 'ClassDeclaration':
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
    case 'TSEnumDeclaration':
      return [node.id?.name ?? 'default']
    default:
      return []
  }
}

type ExportSpecifier = Extract<Statement, { readonly type: 'ExportNamedDeclaration' }>['specifiers'][number]

function originOf(one: ExportSpecifier, from: string | undefined): Origin {
  if (from === undefined) return { local: one.type === 'ExportSpecifier' ? one.local.name : textOf(one.exported) }
  if (one.type === 'ExportNamespaceSpecifier') return { from, isWhole: true }
  return { from, name: one.type === 'ExportSpecifier' ? textOf(one.local) : 'default' }
}

/** Where a scope imports a name from. */
function importOf({ body }: Scope, name: string): Origin | undefined {
  for (const node of body) {
    if (node.type === 'ImportDeclaration') {
      const one = node.specifiers.find(({ local }) => local.name === name)
      const from = node.source.value
      if (one?.type === 'ImportNamespaceSpecifier') return { from, isWhole: true }
      if (one?.type === 'ImportDefaultSpecifier') return { from, name: 'default' }
      if (one?.type === 'ImportSpecifier') return { from, name: textOf(one.imported) }
    } else if (node.type === 'TSImportEqualsDeclaration' && node.id.name === name) {
      const { moduleReference: to } = node
      if (to.type === 'TSExternalModuleReference') return { from: to.expression.value, isWhole: true }
      return to.type === 'Identifier' ? { local: to.name } : undefined
    }
  }
  return undefined
}

function textOf(name: { readonly type: string; readonly name?: string; readonly value?: string }): string {
  return name.name ?? name.value ?? ''
}
