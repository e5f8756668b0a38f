import { baseName } from './shell-word.ts'
import type { SyntaxNode } from './shell-reading.ts'

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
    'ash awk bash builtin busybox chmod chown chroot command crontab csh dash dd doas env eval exec find fish ionice kill ' +
    'killall ksh nice nohup parallel rm rmdir sed setsid sh shred source ssh stdbuf sudo tcsh time timeout watch xargs zsh .'
  ).split(' '),
)
const plainWord = /^[\w./@:+-]+$/

/**
 * The words of a simple command that a person may allow for all later commands which begin with them. `undefined` where the
 * program is one that runs or destroys what its arguments name, or where its words do not say what it does: `git -C x status`,
 * `npm run` and `node -e` alone.
 */
export function commandStart(words: readonly string[]): string | undefined {
  const [program = '', first = '', second = ''] = words
  if (!plainWord.test(program) || neverOffered.has(baseName(program))) return undefined
  const name = baseName(program)
  const count = families.has(name) ? (first === 'run' ? 3 : 2) : interpreters.has(name) ? 2 : 1
  const start = [program, first, second].slice(0, count)
  const isClear = start.slice(1).every((word) => plainWord.test(word) && !word.startsWith('-'))
  return isClear ? words.join(' ') : undefined
}

/** Programs that read their operands, or check, build or test them, whatever these are. */
const takesOperands = new Set(
  (
    'ack ag bat basename cat cksum cmp cut date df diff dirname du echo egrep false fd fgrep file grep head hexdump jq less ls ' +
    'md5sum mkdir more nl od printf pwd readlink realpath rg sha1sum sha256sum sha512sum stat strings tail test touch tree ' +
    'true wc which whoami xxd yq ' +
    'ava biome black cloc eslint flake8 gofmt hadolint jest knip markdownlint mocha mypy oxfmt oxlint phpstan phpunit ' +
    'prettier pylint pyright pytest rspec rubocop ruff rustfmt shellcheck standard stylelint tap tokei tsc vitest yamllint'
  ).split(' '),
)
/** The same of families, by their first argument; operands of their others are names of what they change or run. */
const takesOperandsBehind: Readonly<Record<string, string>> = {
  cargo: 'bench build check clippy doc fmt test tree',
  dotnet: 'build test',
  git: 'add blame describe diff grep log ls-files ls-tree rev-list rev-parse shortlog show status',
  go: 'build doc fmt list test vet',
  npm: 'ls outdated run run-script t test view why',
  pip: 'list show',
  pip3: 'list show',
  pnpm: 'ls outdated run test why',
  yarn: 'outdated run test why',
}
/** Scripts whose first argument says what they do. */
const dispatchers = /^(?:artisan|console|gulpfile|jakefile|manage|rails|rakefile|tasks?)(?:\.\w+)?$/i

/**
 * Does a command go on from one that a person has allowed: the same words, and behind them only plain operands that its
 * program takes without doing anything else? What the operands name is for the policy to judge.
 */
export function isContinued(start: string, command: string): boolean {
  if (command === start) return true
  if (!command.startsWith(`${start} `)) return false
  const operands = command.slice(start.length + 1).split(' ')
  const end = start.split(' ').includes('--') ? -1 : operands.indexOf('--')
  if (end !== -1) operands.splice(end, 1)
  return operands.every((word) => plainOperand.test(word)) && takesMore(start.split(' '))
}

/** No option, assignment, pattern, address or quoted text, and nothing that the shell expands but a home folder. */
const plainOperand = /^(?:~\/)?[\w.@/][\w./@+,~^-]*$/

function takesMore([program = '', first = '', second = '']: readonly string[]): boolean {
  const name = baseName(program)
  if (name === 'npx') return takesOperands.has(first)
  if (interpreters.has(name)) return /\.\w+$/.test(first) && !dispatchers.test(baseName(first))
  if (families.has(name)) {
    const isKnown = takesOperandsBehind[name]?.split(' ').includes(first) === true
    return isKnown && (!first.startsWith('run') || second !== '')
  }
  return takesOperands.has(name) || /^\.{1,2}\//.test(program)
}
