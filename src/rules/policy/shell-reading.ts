/** A node of a syntax tree of the bash grammar of tree-sitter, as data. */
export interface SyntaxNode {
  readonly type: string
  /** Its place in the body, in UTF-16 units. */
  readonly start: number
  readonly end: number
  readonly children: readonly SyntaxNode[]
}

/** What a shell body says, as far as it can be read without running it. JSON, and recorded with its call. */
export interface ShellReading {
  readonly words: readonly ShellWord[]
  /** Texts of programs and what is not known before it runs: searched for the names of credential paths. */
  readonly texts: readonly string[]
  /** Programs of other languages that it has run. */
  readonly programs?: readonly string[] | undefined
  /** The first part that cannot be read. */
  readonly opaque?: string | undefined
  /** The words, as written, of a body that is one simple command. */
  readonly command?: readonly string[] | undefined
}

/** A word that is, or has in it, a path. */
export interface ShellWord {
  readonly text: string
  /** Absolute; `.`, `..` and links are left as they are, and unquoted wildcards are characters of `wild`. */
  readonly paths: readonly string[]
  /** Its command may read all that lies below a folder. */
  readonly meansAllBelow: boolean
  /** Its command writes, moves or removes what it names, or it is what output goes to. */
  readonly isWritten?: boolean
  /** It stands in a text that may be a program of the shell: only what no such text says by chance counts. */
  readonly isGuess?: boolean
}

/** Parses the text of a program; `undefined`: it is too long, too deep or cannot be parsed. */
export type ParseShell = (text: string) => SyntaxNode | undefined

/** Longest body that is read; a longer one is opaque. */
export const maxShellBodyChars = 16_384
/** Deepest tree that is read; what lies deeper is opaque. */
export const maxShellDepth = 100

/** The reading of a body that has no tree: it cannot be parsed, or is too long or too deep. */
export function unreadableShell(body: string): ShellReading {
  return { words: [], texts: [body], opaque: body.slice(0, 1_000) }
}

/** The first node of a type in a tree. */
export function findNode(node: SyntaxNode, type: string): SyntaxNode | undefined {
  if (node.type === type) return node
  for (const child of node.children) {
    const found = findNode(child, type)
    if (found !== undefined) return found
  }
  return undefined
}
