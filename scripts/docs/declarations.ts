import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, type TSSignature, type TSType } from 'oxc-parser'

export const root = join(import.meta.dirname, '../..')

/** A field of an interface or object type. */
export interface Field {
  readonly name: string
  /** Its type as written, on one line. */
  readonly type: string
  readonly isOptional: boolean
  /** Its docstring as one paragraph, without the tag `@default`. */
  readonly meaning: string
  readonly default: string | undefined
  /** Fields of its type, if that is an object type, and those of types of the same file that it includes. */
  readonly fields: readonly Field[]
}

/** The fields of each interface and object type that a source file declares, by name. @param path from the root */
export function declarationsIn(path: string): ReadonlyMap<string, readonly Field[]> {
  const text = readFileSync(join(root, path), 'utf8')
  const { program, comments } = parseSync(path, text)
  const known = new Map<string, readonly Field[]>()
  const found = program.body.map((node) =>
    node.type === 'ExportNamedDeclaration' && node.declaration !== null ? node.declaration : node,
  )
  // An event may include a type that stands below it.
  for (let round = 0; round < 2; round++) {
    for (const node of found) {
      if (node.type === 'TSInterfaceDeclaration') known.set(node.id.name, node.body.body.flatMap(fieldOf))
      if (node.type === 'TSTypeAliasDeclaration') known.set(node.id.name, fieldsOf(node.typeAnnotation))
    }
  }
  return known

  function fieldsOf(type: TSType): readonly Field[] {
    if (type.type === 'TSTypeLiteral') return type.members.flatMap(fieldOf)
    if (type.type === 'TSIntersectionType') return type.types.flatMap(fieldsOf)
    if (type.type !== 'TSTypeReference' || type.typeName.type !== 'Identifier') return []
    return known.get(type.typeName.name) ?? []
  }

  function fieldOf(node: TSSignature): readonly Field[] {
    if (node.type !== 'TSPropertySignature' || !node.typeAnnotation) return []
    const { typeAnnotation: type } = node.typeAnnotation
    const { key } = node
    const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : ''
    const fields = fieldsOf(type)
    return [{ name, type: typeText(type), isOptional: node.optional, ...docBefore(node.start), fields }]
  }

  function typeText({ start, end }: TSType): string {
    const plain = text.slice(start, end).replaceAll(/\/\*.*?\*\//gs, '')
    return plain.replaceAll(/\breadonly |\s*\|\s*undefined$/g, '').replaceAll(/\s+/g, ' ')
  }

  function docBefore(start: number): Pick<Field, 'meaning' | 'default'> {
    const comment = comments.find(({ end }) => end <= start && text.slice(end, start).trim() === '')
    const isDoc = comment?.type === 'Block' && comment.value.startsWith('*')
    const doc = isDoc
      ? comment.value
          .replaceAll(/^\s*\*+ ?/gm, '')
          .replaceAll(/\s+/g, ' ')
          .trim()
      : ''
    const [meaning = '', value] = doc.split(/\s*@default /)
    return { meaning: meaning.replace(/^@deprecated /, 'Deprecated: '), default: value }
  }
}

/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(tableLine).join('\n')
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
