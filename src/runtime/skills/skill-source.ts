import { EntiaError } from '../../base/entia-error.ts'
import { cleanName } from '../../tools/files/clean-text.ts'

/** A git repository with a skill, as a person names it: `URL#REF:FOLDER`. */
export interface GitSource {
  readonly url: string
  readonly transport: 'https' | 'ssh' | 'file'
  /** A branch, a tag, or a whole commit id. Absent: what the repository has by default. */
  readonly ref?: string | undefined
  /** The skill's folder in the repository. Absent: its root. */
  readonly folder?: string | undefined
  /** The URL without a user's name and password. */
  readonly shown: string
}

const advice = 'It must be a folder, or a git URL with https, ssh or file, such as https://example.org/skill.git#main'

/**
 * A git URL, or `undefined` for what names a folder. Transports that run a program, such as `ext::`, are refused, and so is what
 * a program could take for an option.
 *
 * @throws `invalid-argument`
 */
export function gitSource(source: string): GitSource | undefined {
  if (source.startsWith('-')) throw refused(source, 'begins with -')
  if (/\p{Cc}/u.test(source)) throw refused(source, 'holds a control character')
  if (/^[a-z][a-z0-9+.-]*::/i.test(source)) throw refused(source, 'names a transport that runs a program')
  const short = /^([\w.][\w.-]*@[\w.][\w.-]*):(?!\/\/)([^#]+)(?:#(.*))?$/.exec(source)
  if (short !== null) {
    const [, host = '', path = '', ending] = short
    if (path.startsWith('-')) throw refused(source, 'has a path that begins with -')
    return { url: `${host}:${path}`, transport: 'ssh', shown: `${host}:${path}`, ...ended(source, ending) }
  }
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(source)) return undefined
  const url = URL.canParse(source) ? new URL(source) : undefined
  if (url === undefined) throw refused(source, 'is no URL')
  const transport = (['https', 'ssh', 'file'] as const).find((name) => url.protocol === `${name}:`)
  if (transport === undefined) throw refused(source, `uses ${url.protocol.replace(':', '')}`)
  if (transport === 'file' && url.host !== '') throw refused(source, 'names another machine')
  if (transport !== 'file' && url.hostname === '') throw refused(source, 'names no machine')
  if (/^-|%2d/i.test(url.hostname) || /^(?:-|%2d)/i.test(url.username))
    throw refused(source, 'has a name that begins with -')
  const ending = url.hash === '' ? undefined : decoded(source, url.hash.slice(1))
  url.hash = ''
  const shown = new URL(url)
  shown.username = ''
  shown.password = ''
  return { url: url.href, transport, shown: shown.href, ...ended(source, ending) }
}

function decoded(source: string, ending: string): string {
  try {
    return decodeURIComponent(ending)
  } catch {
    throw refused(source, 'has a wrong % behind the #')
  }
}

/** What stands behind the `#`. */
function ended(source: string, ending = ''): Pick<GitSource, 'ref' | 'folder'> {
  const [ref = '', ...rest] = ending.split(':')
  const folder = rest.join(':').replace(/\/+$/, '')
  // As git allows names of branches, without patterns and what stands for another commit.
  if (ref !== '' && (!/^[\w./+@-]+$/.test(ref) || /^[-./+]|\.\.|@\{|\/$/.test(ref)))
    throw refused(source, `has a wrong ref '${ref}'`)
  const isWrong = folder.split('/').some((part) => ['', '.', '..', '.git'].includes(part)) || folder.startsWith('-')
  if (folder !== '' && (isWrong || folder.includes('\\')))
    throw refused(source, `has a wrong folder '${folder}' behind the ref`)
  return { ref: ref === '' ? undefined : ref, folder: folder === '' ? undefined : folder }
}

function refused(source: string, why: string): EntiaError {
  // A password may stand in it.
  const shown = cleanName(source)
    .replace(/\/\/[^/@]*@/, '//…@')
    .slice(0, 300)
  return new EntiaError('invalid-argument', `installSkill: the source ${shown} ${why}. ${advice}.`, { source: shown })
}
