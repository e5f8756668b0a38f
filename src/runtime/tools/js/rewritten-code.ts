import type { Statement, SyntaxTree } from './syntax-tree.ts'

type Program = SyntaxTree['program']
type ImportDeclaration = Extract<Statement, { readonly type: 'ImportDeclaration' }>
type ImportSpecifier = Extract<ImportDeclaration['specifiers'][number], { readonly type: 'ImportSpecifier' }>

/** Any part of a tree. */
interface Node {
  readonly type: string
  readonly start?: number | null | undefined
  readonly end?: number | null | undefined
}

/** Code as V8's REPL mode takes it. Each piece stays in its line. */
export interface RewrittenCode {
  /** To be declared before the code. */
  readonly functions: string
  readonly code: string
}

/** A piece of code that is replaced, by its places in the text. */
interface Change {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * Rewrites code for an evaluator that has no loader, and in which only what was declared by `let` or `class` may be declared again,
 * by `let` or `class`: `import()` and `import … from` become calls of `__import`; a top-level `const` becomes `let`, and so does `var`
 * where it means the same; top-level functions become variables, which are declared first. Code with a syntax error stays as it is.
 */
export async function rewrittenCode(code: string): Promise<RewrittenCode> {
  if (!/\b(import|function|const|var)\b/.test(code)) return { functions: '', code }
  const { syntaxTree } = await import('./syntax-tree.ts')
  const tree = syntaxTree(code, 'code')
  if (tree === undefined) return { functions: '', code }
  const { program } = tree
  const changes = [...importCalls(program), ...importDeclarations(program, code), ...declarations(program, 'const')]
  const variables = declarations(program, 'var')
  // One in a block, or one that is declared twice, is another thing with let.
  const isOnlyThere = code.match(/\bvar\b/g)?.length === variables.length
  if (isOnlyThere && syntaxTree(changed(code, 0, code.length, variables), 'code') !== undefined)
    changes.push(...variables)
  const parts: Record<'functions' | 'code', string[]> = { functions: [], code: [] }
  let at = 0
  const take = (end: number, to: 'functions' | 'code', head = '', tail = ''): void => {
    parts[to].push(head, changed(code, at, end, changes), tail)
    parts[to === 'code' ? 'functions' : 'code'].push(blank(code, at, end))
    at = end
  }
  const functions = program.body.filter((statement) => statement.type === 'FunctionDeclaration')
  const lastOf = new Map(functions.map((one) => [one.id?.name, one]))
  for (const one of functions) {
    take(one.start ?? 0, 'code')
    const isLast = lastOf.get(one.id?.name) === one
    if (isLast) take(one.end ?? 0, 'functions', `let ${one.id?.name ?? ''} = `, ';')
    else at = one.end ?? 0
  }
  take(code.length, 'code')
  return { functions: functions.length === 0 ? '' : parts.functions.join(''), code: parts.code.join('') }
}

/** The text between two places, with the changes that lie there. */
function changed(code: string, start: number, end: number, changes: readonly Change[]): string {
  const inside = changes.filter((one) => one.start >= start && one.end <= end).sort((a, b) => a.start - b.start)
  let text = ''
  let at = start
  for (const one of inside) {
    text += code.slice(at, one.start) + one.text
    at = one.end
  }
  return text + code.slice(at, end)
}

/** Spaces and line breaks in place of a text. */
function blank(code: string, start: number, end: number): string {
  return code.slice(start, end).replaceAll(/[^\n]/g, ' ')
}

function importCalls(program: Program): Change[] {
  const found: Change[] = []
  const open: Node[] = [program]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.type === 'Import') found.push({ start: node.start ?? 0, end: node.end ?? 0, text: '__import' })
    for (const child of Object.values(node).flat() as unknown[]) {
      if (isNode(child)) open.push(child)
    }
  }
  return found
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && !String(value.type).startsWith('Comment')
}

/** Makes top-level declarations such ones by `let`, of the same length. */
function declarations({ body }: Program, kind: 'const' | 'var'): Change[] {
  return body
    .filter((statement) => statement.type === 'VariableDeclaration' && statement.kind === kind)
    .map(({ start }) => ({ start: start ?? 0, end: (start ?? 0) + kind.length, text: 'let'.padEnd(kind.length) }))
}

function importDeclarations({ body }: Program, code: string): Change[] {
  return body
    .filter((statement) => statement.type === 'ImportDeclaration')
    .map((one) => {
      const [start, end] = [one.start ?? 0, one.end ?? 0]
      const lineBreaks = code.slice(start, end).replaceAll(/[^\n]/g, '')
      return { start, end, text: `${awaitedImport(one)};${lineBreaks}` }
    })
}

function awaitedImport({ specifiers, source, attributes }: ImportDeclaration): string {
  const pairs = (attributes ?? []).map(({ key, value }) => `${quoted(nameOf(key))}: ${quoted(value.value)}`)
  const options = pairs.length === 0 ? '' : `, { with: { ${pairs.join(', ')} } }`
  const loaded = `await __import(${quoted(source.value)}${options})`
  const whole = specifiers.find(({ type }) => type === 'ImportNamespaceSpecifier')?.local.name
  const names = specifiers
    .filter((one) => one.type !== 'ImportNamespaceSpecifier')
    .map(
      (one) => `${one.type === 'ImportDefaultSpecifier' ? 'default' : quoted(nameOf(one.imported))}: ${one.local.name}`,
    )
  if (specifiers.length === 0) return loaded
  if (whole === undefined) return `let { ${names.join(', ')} } = ${loaded}`
  return `let ${whole} = ${loaded}${names.length === 0 ? '' : `, { ${names.join(', ')} } = ${whole}`}`
}

function nameOf(name: ImportSpecifier['imported']): string {
  return name.type === 'Identifier' ? name.name : name.value
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
