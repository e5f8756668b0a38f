import { baseName } from './shell-word.ts'
import type { SyntaxNode } from './shell.ts'

/**
 * The words, as written, of a body that is one simple command: no list, pipe, substitution, assignment or background, and
 * no redirection but to another stream or to `/dev/null`. `undefined` for any other body.
 */
export function simpleCommand(body: string, root: SyntaxNode): readonly string[] | undefined {
  const [statement, more] = root.children
  if (statement === undefined || more !== undefined) return undefined
  const source = ({ start, end }: SyntaxNode): string => body.slice(start, end)
  if (statement.type === 'redirected_statement') {
    const [command, ...redirects] = statement.children
    const isQuiet = redirects.every((each) => each.type === 'file_redirect' && quietly.test(source(each)))
    return command?.type === 'command' && isQuiet ? wordsOf(command, source) : undefined
  }
  return statement.type === 'command' ? wordsOf(statement, source) : undefined
}

const quietly = /^(?:\d?>&\d|[\d&]?>\s*\/dev\/null)$/

function wordsOf(command: SyntaxNode, source: (node: SyntaxNode) => string): readonly string[] | undefined {
  const isPlain = command.children.every((part) => wordTypes.has(part.type) && !runsMore(part))
  return isPlain ? command.children.map(source) : undefined
}

const wordTypes = new Set(
  'command_name word number string raw_string concatenation simple_expansion expansion ansi_c_string'.split(' '),
)

function runsMore({ type, children }: SyntaxNode): boolean {
  return /substitution|ERROR|arithmetic/.test(type) || children.some(runsMore)
}

/** Programs whose first argument says what they do. */
const families = new Set(
  (
    'apt apt-get brew bundle cargo composer conda docker dotnet gh git go gradle helm just kubectl make mvn npm nx pip pip3 ' +
    'pnpm poetry rails rake systemctl terraform turbo uv yarn'
  ).split(' '),
)
/** Programs that run the program in their first argument. */
const interpreters = new Set('bun deno node nodejs npx perl php python python3 ruby ts-node tsx'.split(' '))
/** Programs that run what their arguments say, and those that destroy: their beginning says nothing of what they do. */
const neverOffered = new Set(
  (
    'ash awk bash builtin busybox chmod chown chroot command csh dash dd doas env eval exec find fish ionice kill killall ' +
    'ksh nice nohup parallel rm rmdir sed setsid sh shred source ssh stdbuf sudo tcsh time timeout watch xargs zsh .'
  ).split(' '),
)
const plainWord = /^[\w./@:+-]+$/

/**
 * The beginning of a simple command that a person may allow for all later commands which begin so, in whole words: the
 * program (`ls`), with its first argument where that says what it does (`git status`, `node build.js`), with the second for
 * scripts (`npm run lint`). `undefined` where a beginning would say too little.
 */
export function commandStart(words: readonly string[]): string | undefined {
  const [program = '', first = '', second = ''] = words
  if (!plainWord.test(program) || neverOffered.has(baseName(program))) return undefined
  const name = baseName(program)
  const count = families.has(name) ? (first === 'run' ? 3 : 2) : interpreters.has(name) ? 2 : 1
  const start = [program, first, second].slice(0, count)
  const isClear = start.slice(1).every((word) => plainWord.test(word) && !word.startsWith('-'))
  return isClear ? start.join(' ') : undefined
}
