import { canMatch, isPattern, plainText } from './glob.ts'
import type { PathStyle } from '../../protocol/policy.ts'
import { segmentsOf } from './paths.ts'

/** Files and folders that hold keys and passwords, `~` the home folder, `*` any one name. */
const credentialPaths: readonly string[] = [
  '~/.ssh',
  '~/.gnupg',
  '~/.aws',
  '~/.config/gcloud',
  '~/.kube',
  '~/.docker/config.json',
  '~/.netrc',
  '~/.npmrc',
  '~/.pypirc',
  '~/.git-credentials',
  '~/.config/gh',
  '/etc/shadow',
  '/proc/*/environ',
  // The same of one thread.
  '/proc/*/task/*/environ',
]

/** `.env` and `.env.*`, wherever they lie, without those that hold no values. */
function isEnvFile(name: string): boolean {
  return /^\.env(\.|$)/i.test(name) && !/(example|sample|template)$/i.test(name)
}

/** The list as absolute paths, with Entia's own config folder. Links in it are not resolved. */
export function credentialFolders(home: string, configFolder?: string): readonly string[] {
  const listed = credentialPaths.map((path) => path.replace(/^~/, () => home))
  return configFolder === undefined ? listed : [...listed, configFolder]
}

/** Is a path, or can a pattern be, one of the credential paths or below one? */
export function isCredentialPath(path: readonly string[], folders: readonly (readonly string[])[]): boolean {
  return path.some(canBeEnvFile) || folders.some((folder) => folder.length <= path.length && meets(path, folder))
}

/** Is a path, or can a pattern be, a folder above one of the listed paths? `.env` files do not count. */
export function isAboveCredentials(path: readonly string[], folders: readonly (readonly string[])[]): boolean {
  return folders.some((folder) => path.length < folder.length && meets(path, folder))
}

/** Do the names that both have agree? */
function meets(path: readonly string[], folder: readonly string[]): boolean {
  return path.every((name, at) => {
    const expected = folder[at]
    return (
      expected === undefined || expected === '*' || (isPattern(name) ? canMatch(name, expected) : name === expected)
    )
  })
}

const envNames = ['.env', '.env.local', '.env.production', '.env.development', '.env.test', '.env.x']

function canBeEnvFile(name: string): boolean {
  if (!isPattern(name)) return isEnvFile(name)
  // A pattern that begins with `.env.` can match some file of that name, unless its end says which.
  return envNames.some((one) => canMatch(name, one)) || (/^\.env\./i.test(name) && isEnvFile(plainText(name)))
}

/** Gives a function that finds the name of a credential path in the text of a program, if there is one. */
export function credentialSearch(
  home: string,
  configFolder: string | undefined,
  pathStyle: PathStyle = 'posix',
): (text: string) => string | undefined {
  const names = credentialPaths.map((path) => path.replace('~/', '').replaceAll('*', '[^/\\s]+'))
  if (configFolder !== undefined) {
    const own = segmentsOf(configFolder)
    const inHome = configFolder.startsWith(`${home}/`) ? own.slice(segmentsOf(home).length) : own
    names.push(inHome.map((name) => name.replace(/[^\w]/g, String.raw`\$&`)).join('/'))
  }
  const listed = names.map((name) => name.replaceAll('.', String.raw`\.`).replaceAll(String.raw`\\.`, String.raw`\.`))
  const flags = pathStyle === 'posix' ? 'gu' : 'giu'
  const found = new RegExp(
    String.raw`(?<![\p{L}\p{N}_\-.)\]])(?:(?:${listed.join('|')})(?![\p{L}\p{N}_\-])|\.env(?:\.[\w-]+)*(?![\p{L}\p{N}_\-]))`,
    flags,
  )
  return (text) => {
    for (const [name] of text.matchAll(found))
      if (!name.toLowerCase().startsWith('.env') || isEnvFile(name)) return name
    return undefined
  }
}
