/** What was stopped, as a model reads it, by the words that programs print then. */
const signs: readonly (readonly [what: string, sign: RegExp])[] = [
  [
    'a write outside of its folders or to what is guarded in them',
    /Read-only file system|EROFS|\.(?:bash|claude|cursor|entia|env|git|idea|mcp|profile|vscode|z)[^\n]*(?:Is a directory|File exists|resource busy)/,
  ],
  [
    'use of the network',
    /Could not resolve host|Could not resolve proxy|ENOTFOUND|EAI_AGAIN|Temporary failure in name resolution|Name or service not known|nodename nor servname|Network is unreachable|ENETUNREACH|blocked-by-sandbox-runtime|CONNECT tunnel failed, response 403|Connection blocked by network allowlist/,
  ],
]

/** What may be the sandbox, or the rights of a file. */
const perhaps = /Permission denied|Operation not permitted|EACCES|EPERM/

/** What is known of a program that ran in the sandbox. */
export interface Seen {
  /** The program's arguments: a command may name what is hidden. */
  readonly command: string
  readonly printed: string
  readonly hasFailed: boolean
  /** `host:port` that it was refused. */
  readonly deniedHosts: readonly string[]
  /** Absolute. */
  readonly hidden: readonly string[]
  readonly home: string
}

/** What the sandbox has stopped, in words; `undefined`: nothing that shows. */
export function stoppedIn({ command, deniedHosts, hasFailed, hidden, home, printed }: Seen): string | undefined {
  const certain = signs
    .filter(([what, sign]) => sign.test(printed) && (hasFailed || what !== 'use of the network'))
    .map(([what]) => what)
  if (deniedHosts.length > 0) {
    const named = `a connection to ${deniedHosts.join(', ')}`
    return `it stopped ${[...certain.filter((what) => what !== 'use of the network'), named].join(' and ')}`
  }
  const read = hidden.filter((path) => isNamed(path, `${command}\n${printed}`, home))
  const all = [...certain, ...(read.length > 0 ? [`reading ${read.join(', ')}`] : [])]
  if (all.length > 0) return `it stopped ${all.join(' and ')}`
  return hasFailed && perhaps.test(printed) ? 'it may have stopped this' : undefined
}

/** By its path from the root or from home. A path that is short may be part of any word. */
function isNamed(path: string, text: string, home: string): boolean {
  const fromHome = path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : undefined
  return [path, fromHome, fromHome?.replace('~', '$HOME')].some((each) => each !== undefined && text.includes(each))
}
