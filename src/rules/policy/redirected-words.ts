import type { SyntaxNode } from './shell-reading.ts'

/**
 * A statement with the words behind its redirections given back to the command that they are operands of: the grammar takes all of
 * `x -c y` in `sh < x -c y` for the redirection.
 */
export function withOwnWords(node: SyntaxNode): SyntaxNode {
  const [statement, ...redirects] = node.children
  if (node.type !== 'redirected_statement' || statement === undefined) return node
  const split = redirects.map((redirect) =>
    redirect.type === 'file_redirect' ? parted(redirect) : { redirect, more: [] },
  )
  const more = split.flatMap((one) => one.more)
  if (more.length === 0) return node
  return { ...node, children: [withWords(statement, more), ...split.map(({ redirect }) => redirect)] }
}

/** A redirection has one word. */
function parted(redirect: SyntaxNode): { readonly redirect: SyntaxNode; readonly more: readonly SyntaxNode[] } {
  const { children } = redirect
  const operator = children.findIndex(({ type }) => /^[<>&|-]+$/.test(type))
  // `>&-` has none.
  const word = children[operator]?.type.endsWith('-') === true ? operator : operator + 1
  const from = children.findIndex(({ start }, at) => at > word && start > (children[at - 1]?.end ?? start))
  if (operator === -1 || from === -1) return { redirect, more: [] }
  const kept = children.slice(0, from)
  return {
    redirect: { ...redirect, end: kept.at(-1)?.end ?? redirect.end, children: kept },
    more: children.slice(from),
  }
}

/** Gives words to a command, or to the last one of a list or a pipe. */
function withWords(node: SyntaxNode, words: readonly SyntaxNode[]): SyntaxNode {
  if (node.type === 'command') return { ...node, children: [...node.children, ...words] }
  const last = node.children.at(-1)
  if (!/^(?:list|pipeline|redirected_statement|negated_command)$/.test(node.type) || last === undefined)
    return {
      ...node,
      children: [...node.children, { type: 'ERROR', start: node.start, end: node.end, children: words }],
    }
  return { ...node, children: [...node.children.slice(0, -1), withWords(last, words)] }
}
