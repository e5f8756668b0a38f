import { createRequire } from 'node:module'
import { existsSync } from 'node:fs'
import type { Parser, TreeCursor } from 'web-tree-sitter'
import type { Base } from '../../rules/policy/paths.ts'
import { readShell } from '../../rules/policy/shell.ts'
import { withOwnWords } from '../../rules/policy/redirected-words.ts'
import {
  maxShellBodyChars,
  maxShellDepth,
  unreadableShell,
  type ShellReading,
  type SyntaxNode,
} from '../../rules/policy/shell-reading.ts'
import { simpleCommand } from '../../rules/policy/simple-command.ts'

/**
 * Longest time that a body is parsed: error recovery takes seconds on a few thousand brackets. What is cut off is opaque,
 * which is recorded, so a replay does not depend on it.
 */
const maxParseMs = 250

let loading: Promise<Parser> | undefined

/** Loads the parser with the first body that is read, once a process. */
async function shellParser(): Promise<Parser> {
  loading ??= loadParser().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

async function loadParser(): Promise<Parser> {
  const { Parser, Language } = await import('web-tree-sitter')
  await Parser.init()
  const parser = new Parser()
  parser.setLanguage(await Language.load(grammarFile()))
  return parser
}

/** The grammar lies beside the build, or in its package where sources run. */
function grammarFile(): string {
  const names = ['tree-sitter-bash.wasm', '../tree-sitter-bash.wasm']
  const beside = names.map((name) => new URL(name, import.meta.url)).find((file) => existsSync(file))
  if (beside !== undefined) return process.getBuiltinModule('node:url').fileURLToPath(beside)
  return createRequire(import.meta.url).resolve('tree-sitter-bash/tree-sitter-bash.wasm')
}

/** Reads a shell body. One that is too long, too deep or cannot be parsed is opaque. */
export async function readShellBody(body: string, base: Base): Promise<ShellReading> {
  const text = body.replaceAll('\0', '')
  if (text.length > maxShellBodyChars) return unreadableShell(text)
  const parser = await shellParser()
  const reading = parsed(parser, text, base)
  if (!text.includes('\\\n')) return reading
  // bash takes continued lines as one before it reads words; the grammar does not.
  return joined(reading, parsed(parser, text.replaceAll('\\\n', ''), base))
}

function parsed(parser: Parser, text: string, base: Base): ShellReading {
  const endMs = performance.now() + maxParseMs
  const parse = (part: string) => treeOf(parser, part, endMs)
  const root = parse(text)
  if (root === undefined) return unreadableShell(text)
  const command = simpleCommand(text, root)
  return { ...readShell(text, root, base, parse), ...(command !== undefined && { command }) }
}

function treeOf(parser: Parser, text: string, endMs: number): SyntaxNode | undefined {
  const tree = parser.parse(text.replace(bareHome, '.'), null, { progressCallback: () => performance.now() > endMs })
  if (tree === null) {
    parser.reset()
    return undefined
  }
  const cursor = tree.walk()
  try {
    return asData(cursor, tree.rootNode.hasError, 0)
  } finally {
    cursor.delete()
    tree.delete()
  }
}

/** The grammar does not take `~` for a word everywhere: `[ -d ~ ]`. */
const bareHome = /(?<=[\s(])~(?=[\s;&|)]|$)/g

/** The tree as data; `undefined` where it is too deep. A node that the parser made up counts as an error. */
function asData(cursor: TreeCursor, hasError: boolean, depth: number): SyntaxNode | undefined {
  if (depth > maxShellDepth) return undefined
  const children: SyntaxNode[] = []
  const { nodeType, startIndex: start, endIndex: end } = cursor
  const type = hasError && cursor.nodeIsMissing ? 'ERROR' : nodeType
  if (cursor.gotoFirstChild()) {
    do {
      const child = asData(cursor, hasError, depth + 1)
      if (child === undefined) return undefined
      children.push(child)
    } while (cursor.gotoNextSibling())
    cursor.gotoParent()
  }
  return withOwnWords({ type, start, end, children })
}

function joined(one: ShellReading, other: ShellReading): ShellReading {
  const opaque = one.opaque ?? other.opaque
  const programs = [...(one.programs ?? []), ...(other.programs ?? [])]
  const known = {
    words: [...one.words, ...other.words],
    texts: [...one.texts, ...other.texts],
    ...(programs.length > 0 && { programs }),
  }
  return opaque === undefined ? known : { ...known, opaque }
}
