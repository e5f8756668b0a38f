import { collapsed } from '../../../base/one-line.ts'
import { cutText } from '../../../base/cut-text.ts'
import type { Statement, SyntaxTree } from './syntax-tree.ts'

/** A part of a text that was read. */
export interface Place {
  readonly start?: number | null | undefined
  readonly end?: number | null | undefined
}

/** A file that was read. */
export interface SourceText {
  readonly text: string
  readonly comments: NonNullable<SyntaxTree['comments']>
}

/** A statement that declares a name. */
export interface Declared {
  readonly source: SourceText
  /** With `export`, if that stands before. */
  readonly outer: Statement
  readonly node: Statement
  readonly name: string
}

const maxSignatureChars = 300
const maxSentenceChars = 200

/** One line that says what is declared, without bodies and comments. */
export function signatureOf({ source, node, name }: Declared): string {
  return cutText(signature(head(source, node, name)), maxSignatureChars, '…')
}

function head(source: SourceText, node: Statement, name: string): string {
  switch (node.type) {
    case 'FunctionDeclaration':
      return bare(source, node.start, node.body.start)
    case 'ClassDeclaration':
    case 'TSInterfaceDeclaration':
      return bare(source, node.start, node.body.start)
    case 'VariableDeclaration': {
      const one = node.declarations.find(({ id }) => id.type === 'Identifier' && id.name === name)
      if (one === undefined) return `${node.kind} ${name}`
      const { id, init } = one
      const isFunction = init?.type === 'ArrowFunctionExpression' || init?.type === 'FunctionExpression'
      const end = isFunction ? init.body.start : id.end
      return `${node.kind} ${bare(source, id.start, end)}`
    }
    case 'TSModuleDeclaration':
      return `namespace ${name}`
    default:
      return bare(source, node.start, node.end)
  }
}

/** All of a declaration as it is written, with the comment before it, and without bodies of functions. */
export function wholeOf(declared: Declared): string {
  const { source, outer, node } = declared
  const comment = docComment(source, outer)
  const end = node.type === 'FunctionDeclaration' ? node.body.start : node.end
  const text = source.text.slice(outer.start ?? 0, end ?? 0).trimEnd()
  return comment === undefined ? text : `${source.text.slice(comment.start ?? 0, comment.end ?? 0)}\n${text}`
}

/** The members of a class, an interface or an enum, by name. */
export function membersOf({ source, node }: Declared): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  for (const member of memberNodes(node)) {
    const key = 'key' in member ? (member.key as NamedNode) : 'id' in member ? (member.id as NamedNode) : undefined
    const name = key?.name ?? key?.value
    if (name === undefined) continue
    const body = 'body' in member ? (member.body as Place | undefined) : undefined
    const comment = docComment(source, member)
    const before = comment === undefined ? '' : `${source.text.slice(comment.start ?? 0, comment.end ?? 0)}\n`
    const text = before + source.text.slice(member.start ?? 0, body?.start ?? member.end ?? 0).trimEnd()
    const earlier = members.get(name)
    members.set(name, earlier === undefined ? text : `${earlier}\n${text}`)
  }
  return members
}

interface NamedNode {
  readonly name?: string
  readonly value?: string
}

function memberNodes(node: Statement): readonly (Place & object)[] {
  if (node.type === 'ClassDeclaration') return node.body.body
  if (node.type === 'TSInterfaceDeclaration') return node.body.body
  if (node.type === 'TSEnumDeclaration') return node.members ?? []
  if (node.type === 'TSTypeAliasDeclaration' && node.typeAnnotation.type === 'TSTypeLiteral')
    return node.typeAnnotation.members
  return []
}

/** The first sentence of the comment before a declaration. */
export function sentenceOf({ source, outer }: Declared): string | undefined {
  const comment = docComment(source, outer)
  if (comment === undefined) return undefined
  const text = comment.value
    .replaceAll(/^[ \t]*\*[ \t]?/gm, '')
    .replaceAll(/\{@\w+\s+([^}|]*)(?:\|[^}]*)?\}/g, '$1')
    .trim()
  const isDeprecated = /^@deprecated/m.test(text)
  const [paragraph = ''] = text.split(/\n\s*\n|^@/m)
  const [sentence = ''] = /^[^]*?[.!?](?=\s|$)/.exec(paragraph) ?? [paragraph]
  const shown = cutText(collapsed(sentence), maxSentenceChars, '…')
  return [isDeprecated ? '(deprecated)' : '', shown].filter((part) => part !== '').join(' ') || undefined
}

/** The comment `/**` that stands right before something. */
function docComment({ text, comments }: SourceText, { start }: Place): SourceText['comments'][number] | undefined {
  const before = comments.findLast(({ end }) => (end ?? 0) <= (start ?? 0))
  if (before?.type !== 'CommentBlock' || !before.value.startsWith('*')) return undefined
  return text.slice(before.end ?? 0, start ?? 0).trim() === '' ? before : undefined
}

/** A piece of a text without its comments. */
function bare(
  { text, comments }: SourceText,
  start: number | null | undefined,
  end: number | null | undefined,
): string {
  let shown = ''
  let at = start ?? 0
  for (const comment of comments) {
    if ((comment.start ?? 0) < at || (comment.end ?? 0) > (end ?? 0)) continue
    shown += text.slice(at, comment.start ?? 0)
    at = comment.end ?? 0
  }
  return shown + text.slice(at, end ?? 0)
}

function signature(text: string): string {
  return collapsed(text)
    .replace(/^declare /, '')
    .replace(/[ ;={]+$/, '')
}
