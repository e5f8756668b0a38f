import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { type Class, type Comment, type Function as Callable, parseSync, type Statement } from 'oxc-parser'
import manifest from '../../package.json' with { type: 'json' }
import { root } from './declarations.ts'

/** The pages of the API reference by path: one a door, made from its exports and their docstrings, and an index. */
export function apiPages(): Readonly<Record<string, () => string>> {
  const doors = Object.entries(manifest.exports).flatMap(([subpath, target]) => {
    if (typeof target === 'string') return []
    const name = posix.join(manifest.name, subpath)
    return [{ name, file: target['entia-source'].slice(2), page: `${name.replaceAll('/', '-')}.md` }]
  })
  return {
    'docs/api/README.md': () => indexPage(doors),
    ...Object.fromEntries(doors.map((door) => [`docs/api/${door.page}`, () => doorPage(door)])),
  }
}

interface Door {
  /** As programs import it. */
  readonly name: string
  /** Its source, from the root. */
  readonly file: string
  readonly page: string
}

function indexPage(doors: readonly Door[]): string {
  const rows = doors.map(({ name, file, page }) => {
    const count = exportsOf(file).length
    return `- [\`${name}\`](${page}), ${count} names${firstLine(docOfFile(file))}`
  })
  return `# API reference

These pages are made from the declarations and their docstrings by \`npm run docs\`. The guides are in
[the documentation](../README.md).

${rows.join('\n')}
`
}

function firstLine(doc: string): string {
  const [line = ''] = doc.split(/(?<=\.)\s/)
  return line === '' ? '' : `: ${line}`
}

function doorPage({ name, file }: Door): string {
  const groups = Map.groupBy(exportsOf(file), ({ group }) => group)
  const sections = [...groups].map(([group, names]) => {
    const entries = names.map(({ exported, from, local }) => entry(exported, local, from)).join('\n\n')
    return group === '' ? entries : `## ${group}\n\n${entries}`
  })
  return `# \`${name}\`

${[docOfFile(file), 'This page is made from the declarations by `npm run docs`.'].filter((part) => part !== '').join('\n\n')}

${sections.join('\n\n')}
`
}

interface Exported {
  readonly exported: string
  /** Its name in the file that declares it. */
  readonly local: string
  readonly from: string
  /** The comment over its group of exports. */
  readonly group: string
}

/** What a file exports, each with the file that declares it. */
function exportsOf(file: string): readonly Exported[] {
  const { text, program, comments } = parsed(file)
  let group = ''
  return program.body.flatMap((node) => {
    if (node.type !== 'ExportNamedDeclaration') return []
    group = groupBefore(text, comments, node.start) ?? group
    if (node.declaration !== null) {
      return declaredNames(node.declaration).map((name) => ({ exported: name, local: name, from: file, group }))
    }
    return node.specifiers.map(({ exported, local }) => {
      const declared = declaredBehind(file, nameOf(local), node.source?.value)
      return { exported: nameOf(exported), ...declared, group }
    })
  })
}

function nameOf(node: { readonly type: string; readonly name?: string; readonly value?: unknown }): string {
  return node.type === 'Identifier' ? String(node.name) : String(node.value)
}

/** Follows a name through the files that only hand it on. */
function declaredBehind(file: string, name: string, source: string | undefined): Pick<Exported, 'from' | 'local'> {
  const { program } = parsed(file)
  if (source === undefined) {
    for (const node of program.body) {
      if (node.type !== 'ImportDeclaration') continue
      const found = node.specifiers.find(({ local }) => local.name === name)
      if (found?.type === 'ImportSpecifier') return declaredBehind(file, nameOf(found.imported), node.source.value)
    }
    return { from: file, local: name }
  }
  if (!source.startsWith('.')) return { from: source, local: name }
  const target = posix.join(posix.dirname(file), source)
  for (const node of parsed(target).program.body) {
    if (node.type !== 'ExportNamedDeclaration' || node.declaration !== null) continue
    const found = node.specifiers.find(({ exported }) => nameOf(exported) === name)
    if (found !== undefined) return declaredBehind(target, nameOf(found.local), node.source?.value)
  }
  return { from: target, local: name }
}

function entry(exported: string, local: string, from: string): string {
  const heading = `### \`${exported}\``
  if (!from.endsWith('.ts')) return `${heading}\n\nOf the package \`${from}\`.`
  const { text, program, comments } = parsed(from)
  const found = withoutBodiesOfOverloads(
    program.body.filter((node) => declaredNames(declarationOf(node)).includes(local)),
    (node) => declarationOf(node)?.type === 'FunctionDeclaration',
  )
  if (found.length === 0) throw new Error(`${from} does not declare ${local}.`)
  const doc = found.map((node) => docBefore(text, comments, node.start)).find((one) => one !== '') ?? ''
  const declared = found.map((node) => declarationText(text, comments, declarationOf(node)))
  const schema = schemaBehind(text, program.body, declared.join('\n'))
  const code = [...declared, ...schema].join('\n')
  return [heading, ...(doc === '' ? [] : [doc]), `\`\`\`typescript\n${code}\n\`\`\``].join('\n\n')
}

/** A type that is only what a schema of the same file describes says nothing without it. */
function schemaBehind(text: string, body: readonly Statement[], declared: string): readonly string[] {
  const name = /^type \w+ = (?:DataOf|DeepReadonly|z\.\w+)<.*?typeof (\w+)/.exec(declared)?.[1]
  const found = body.map(declarationOf).find((node) => name !== undefined && declaredNames(node).includes(name))
  return found === undefined || found === null ? [] : [text.slice(found.start, found.end)]
}

type Declaration = ReturnType<typeof declarationOf>

function declarationOf(node: Statement) {
  return node.type === 'ExportNamedDeclaration' ? node.declaration : node
}

function declaredNames(node: Declaration): readonly string[] {
  switch (node?.type) {
    case 'VariableDeclaration':
      return node.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
    case 'ClassDeclaration':
      return node.id === null ? [] : [node.id.name]
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
      return [node.id.name]
    default:
      return []
  }
}

/** A declaration without what its bodies do. */
function declarationText(text: string, comments: readonly Comment[], node: Declaration): string {
  switch (node?.type) {
    case 'FunctionDeclaration':
      return text.slice(node.start, node.body?.start ?? node.end).trim()
    case 'ClassDeclaration':
      return classText(text, comments, node)
    case 'VariableDeclaration':
      return variableText(text, node)
    default:
      return text.slice(node?.start, node?.end)
  }
}

function classText(text: string, comments: readonly Comment[], node: Class): string {
  const shown = node.body.body.filter((member) => {
    if (member.type !== 'MethodDefinition' && member.type !== 'PropertyDefinition') return false
    return member.key.type !== 'PrivateIdentifier' && (member.accessibility ?? 'public') === 'public'
  })
  const byName = Map.groupBy(shown, (member) => ('key' in member ? text.slice(member.key.start, member.key.end) : ''))
  const members = [...byName.values()].flatMap((same) =>
    withoutBodiesOfOverloads(same, (member) => member.type === 'MethodDefinition' && member.value.body !== null),
  )
  const lines = members.map((member) => {
    const doc = commentBefore(text, comments, member.start)
    const declared = text.slice(member.start, endOfSignature(member)).trim()
    return `${doc === undefined ? '' : `  ${text.slice(doc.start, doc.end)}\n`}  ${declared}`
  })
  return `${text.slice(node.start, node.body.start).trim()} {\n${lines.join('\n')}\n}`
}

/** Where something is declared several times, the one with a body is not for callers. */
function withoutBodiesOfOverloads<T>(declared: readonly T[], hasBody: (one: T) => boolean): readonly T[] {
  const overloads = declared.filter((one) => !hasBody(one))
  return overloads.length === 0 ? declared : overloads
}

function endOfSignature(member: Class['body']['body'][number]): number {
  if (member.type === 'MethodDefinition') return member.value.body?.start ?? member.end
  return (member.type === 'PropertyDefinition' ? member.typeAnnotation?.end : undefined) ?? member.end
}

function variableText(text: string, node: Extract<Declaration, { readonly type: 'VariableDeclaration' }>): string {
  const [declared] = node.declarations
  const { id, init } = declared ?? {}
  if (id?.type === 'Identifier' && id.typeAnnotation) return text.slice(node.start, id.end)
  if (init?.type === 'ArrowFunctionExpression') return text.slice(node.start, init.body.start).replace(/\s*=>\s*$/, '')
  if (init?.type !== 'ObjectExpression') return text.slice(node.start, node.end)
  const fields = init.properties.map((property) => {
    const code = property.type === 'Property' && isFunction(property.value) ? property.value.body : undefined
    const field = text.slice(property.start, code?.start ?? property.end)
    return `  ${field.replace(/\s*(=>)?\s*$/, '')},`
  })
  return `${text.slice(node.start, init.start)}{\n${fields.join('\n')}\n}`
}

function isFunction(node: { readonly type: string }): node is Callable {
  return node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'
}

/** The comment that is a heading: `// Make a world.` */
function groupBefore(text: string, comments: readonly Comment[], start: number): string | undefined {
  const comment = commentBefore(text, comments, start)
  return comment?.type === 'Line' ? comment.value.trim().replace(/\.$/, '') : undefined
}

function docOfFile(file: string): string {
  const { text, comments } = parsed(file)
  const [first] = comments
  return first?.type === 'Block' && text.slice(0, first.start).trim() === '' ? plainDoc(first.value) : ''
}

function docBefore(text: string, comments: readonly Comment[], start: number): string {
  const comment = commentBefore(text, comments, start)
  return comment?.type === 'Block' && comment.value.startsWith('*') ? plainDoc(comment.value) : ''
}

function commentBefore(text: string, comments: readonly Comment[], start: number): Comment | undefined {
  return comments.findLast(({ end }) => end <= start && text.slice(end, start).trim() === '')
}

/** A docstring as Markdown: its tags as paragraphs. */
function plainDoc(value: string): string {
  const lines = value.replaceAll(/^\s*\*+ ?/gm, '').trim()
  return lines
    .replaceAll(/^@(param) (\S+) /gm, '\n\n`$2`: ')
    .replaceAll(/^@(throws|returns|default|deprecated|see)\b:? ?/gm, (_, tag: string) => `\n\n${titles[tag] ?? tag}: `)
    .replaceAll(/\s@(throws|returns|default|deprecated|see)\b:? ?/g, (_, tag: string) => ` ${titles[tag] ?? tag}: `)
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

const titles: Readonly<Record<string, string>> = {
  throws: '**Throws**',
  returns: '**Returns**',
  default: '**Default**',
  deprecated: '**Deprecated**',
  see: '**See**',
}

interface Parsed {
  readonly text: string
  readonly program: ReturnType<typeof parseSync>['program']
  readonly comments: readonly Comment[]
}

const files = new Map<string, Parsed>()

function parsed(file: string): Parsed {
  let found = files.get(file)
  if (found === undefined) {
    const text = readFileSync(join(root, file), 'utf8')
    const { program, comments } = parseSync(file, text)
    files.set(file, (found = { text, program, comments }))
  }
  return found
}
