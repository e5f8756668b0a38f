import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, sep } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'

/** One TypeScript file of the project, reduced to what the rules of the house ask about. */
export interface SourceFile {
  /** From the project's root, with forward slashes. */
  readonly path: string
  readonly lineCount: number
  /** Values and types alike: `import`, `export … from`, `import()`, `import('…').Type` and `getBuiltinModule('…')`. */
  readonly imports: readonly Import[]
  /** Names and forms that the file uses, comments and strings aside: `Date`, `Math.random`, `.sort`, `async`, `export *`. */
  readonly words: readonly Word[]
  /** `path:line` of an import or a word. */
  readonly at: (where: { readonly start: number }) => string
}

export interface Import {
  /** Path of a file of the project, or the name of a package (`zod`, `node:fs`). */
  readonly target: string
  /** It was written as a path, not as a name. */
  readonly relative: boolean
  /** When what it names is loaded: together with the file, when the program comes there, or, for types, not at all. */
  readonly loaded: 'at-once' | 'late' | 'never'
  readonly start: number
}

export interface Word {
  readonly word: string
  readonly start: number
}

const root = join(import.meta.dirname, '../..')

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | { readonly 'entia-source': string }>>
}
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest

/** All TypeScript files below the folders, by path, but for installed packages. A folder that is not there has none. */
export function readFolders(...folders: readonly string[]): readonly SourceFile[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && folders.includes(entry.name))
    .flatMap(({ name }) =>
      readdirSync(join(root, name), { recursive: true, encoding: 'utf8' }).map((file) => join(name, file)),
    )
    .filter((path) => /\.tsx?$/.test(path) && !path.split(sep).includes('node_modules'))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((path) => readSource(path.replaceAll(sep, '/'), readFileSync(join(root, path), 'utf8')))
}

/** Parses one file. */
export function readSource(path: string, text: string): SourceFile {
  const { program, errors } = parseSync(path, text)
  if (errors[0] !== undefined) throw new Error(`${path} cannot be parsed: ${errors[0].message}`)
  const imports: Import[] = []
  const words: Word[] = []
  const imported = (node: Node, source: Node | null | undefined, loaded: Import['loaded']) => {
    if (source != null && 'value' in source && typeof source.value === 'string')
      imports.push({
        target: resolve(path, source.value),
        relative: source.value.startsWith('.'),
        loaded,
        start: node.start,
      })
  }
  const use = (word: string, node: Node) => words.push({ word, start: node.start })

  // Where an identifier stands that only names a property. Parents are visited before their children.
  const propertyNames = new Set<number>()
  const key = (node: Keyed) => {
    if (!node.computed && !node.shorthand) propertyNames.add(node.key.start)
  }
  const code = (node: Node & { async: boolean }) => node.async && use('async', node)

  new Visitor({
    ImportDeclaration: (node) => imported(node, node.source, node.importKind === 'type' ? 'never' : 'at-once'),
    ExportNamedDeclaration: (node) => imported(node, node.source, node.exportKind === 'type' ? 'never' : 'at-once'),
    TSImportType: (node) => imported(node, node.source, 'never'),
    ExportAllDeclaration(node) {
      imported(node, node.source, node.exportKind === 'type' ? 'never' : 'at-once')
      use('export *', node)
    },
    ImportExpression(node) {
      imported(node, node.source, 'late')
      use('import()', node)
    },
    CallExpression({ callee, arguments: [name], ...node }) {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return
      if (callee.property.name === 'getBuiltinModule') imported(node, name, 'late')
    },
    MemberExpression(node) {
      if (node.computed || node.property.type !== 'Identifier') return
      const { name } = node.property
      propertyNames.add(node.property.start)
      use(`.${name}`, node)
      if (node.object.type !== 'Identifier') return
      use(`${node.object.name}.${name}`, node)
      if (node.object.name === 'Math') propertyNames.add(node.object.start)
    },
    ObjectPattern({ properties }) {
      for (const each of properties) {
        if (each.type === 'Property' && !each.computed && each.key.type === 'Identifier') use(`.${each.key.name}`, each)
      }
    },
    Property: key,
    PropertyDefinition: key,
    MethodDefinition: key,
    TSPropertySignature: key,
    TSMethodSignature: key,
    Identifier(node) {
      if (!propertyNames.has(node.start)) use(node.name, node)
    },
    FunctionDeclaration: code,
    FunctionExpression: code,
    ArrowFunctionExpression: code,
    AwaitExpression: (node) => use('await', node),
    ForOfStatement: (node) => node.await && use('await', node),
    TSAsExpression(node) {
      let inner = node.expression
      while (inner.type === 'ParenthesizedExpression') inner = inner.expression
      if (inner.type === 'TSAsExpression' && inner.typeAnnotation.type === 'TSUnknownKeyword')
        use('as unknown as', node)
    },
  }).visit(program)
  const linesUpTo = (end?: number) => text.slice(0, end).split('\n').length
  return {
    path,
    lineCount: linesUpTo() - (text.endsWith('\n') ? 1 : 0),
    imports,
    words,
    at: ({ start }) => `${path}:${linesUpTo(start)}`,
  }
}

interface Node {
  readonly type: string
  readonly start: number
}

interface Keyed extends Node {
  readonly key: Node
  readonly computed: boolean
  readonly shorthand?: boolean
}

/** Where an import leads: relative ones and the package's own doors to a file of the project, the rest to a package. */
function resolve(from: string, specifier: string): string {
  if (specifier.startsWith('.')) return posix.join(dirname(from), specifier)
  const words = specifier.split('/')
  const name = words.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
  if (name !== manifest.name) return name
  const door = manifest.exports[`.${specifier.slice(name.length)}`]
  return typeof door === 'object' ? posix.normalize(door['entia-source']) : specifier
}
