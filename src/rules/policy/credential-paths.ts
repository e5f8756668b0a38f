import { canMatch, isPattern, plainText, wildCharacters } from './glob.ts'
import type { PathStyle } from '../../protocol/policy.ts'
import { segmentsOf } from './paths.ts'
import { oncePerValue } from '../once-per.ts'

/**
 * The list of credential files, used by the policy and by all tools that search files. Here: where a user's own lie, `~` the
 * home folder, `*` any one name.
 */
const credentialPaths: readonly string[] = [
  '~/.ssh',
  '~/.gnupg',
  '~/.aws',
  '~/.azure',
  '~/.config/gcloud',
  '~/.kube',
  '~/.docker/config.json',
  '~/.netrc',
  '~/.npmrc',
  '~/.pypirc',
  '~/.git-credentials',
  '~/.config/gh',
  '~/.m2/settings.xml',
  '/etc/shadow',
  '/proc/*/environ',
  // The same of one thread.
  '/proc/*/task/*/environ',
]

/** Names of files that hold secrets wherever they lie, in lower case. */
const credentialNames = new Set([
  '.boto',
  '.dockercfg',
  '.dockerconfigjson',
  '.envrc',
  '.git-credentials',
  '.htpasswd',
  '.my.cnf',
  '.mylogin.cnf',
  '.netrc',
  '.npmrc',
  '.pgpass',
  '.pypirc',
  '.s3cfg',
  '.terraformrc',
  '.vault-token',
  '_netrc',
  'application_default_credentials.json',
  'credentials',
  'credentials.json',
  'credentials.toml',
  'id_dsa',
  'id_ecdsa',
  'id_ecdsa_sk',
  'id_ed25519',
  'id_ed25519_sk',
  'id_rsa',
  'kubeconfig',
  'terraform.tfstate',
])
const endings = /\.(?:env|jks|kdbx|key|keystore|kubeconfig|p12|pem|pfx|ppk)$/
const forms = /^(?:client_secret.*\.json|kubeconfig\.ya?ml|service[-_]account.*\.json)$/
/** Such files of one folder. */
const inFolders = /(?:^|\/)(?:\.git\/(?:.*\/)?config|\.?composer\/auth\.json)$/
/** What holds secrets in a home folder, in any other folder. */
const likeAtHome = new RegExp(String.raw`(?:^|/)(?:${namesAtHome()})(?:/|$)`)
const harmless = /(?:example|sample|template)s?$/
/** Suffixes of copies. */
const copyMarks = /(?:~|[._-](?:bak|backup|copy|old|orig|save|sw[op]|tmp|\d+))+$/

function namesAtHome(): string {
  const names = credentialPaths.filter((path) => path.startsWith('~/')).map((path) => path.slice(2))
  return names.map((name) => name.replaceAll('.', String.raw`\.`)).join('|')
}

/**
 * Does a path (with `/`) name a file with secrets, or a copy of one (`id_rsa.bak`, `.env~`)? `.env.example` is none. Where
 * it lies counts as well: a copy of a home folder has the same.
 */
export function isCredentialFile(path: string): boolean {
  return likeAtHome.test(path.toLowerCase()) || isCredentialName(path)
}

/** The same by the file's name alone. */
export function isCredentialName(path: string): boolean {
  const [folder, name] = parted(path.toLowerCase())
  // Emacs writes `#name#` and `.#name`; vim `.name.swp`.
  const bare = name.replace(/^\.?#(.*?)#?$/, '$1')
  const original = bare.replace(copyMarks, '')
  const candidates = [name, bare, original, ...(original === bare ? [] : [original.replace(/^\./, '')])]
  return candidates.some((candidate) => isSecret(folder, candidate))
}

function parted(path: string): readonly [folder: string, name: string] {
  const from = path.lastIndexOf('/') + 1
  return [path.slice(0, from), path.slice(from)]
}

function isSecret(folder: string, name: string): boolean {
  if (/^\.env(?![a-z0-9])/.test(name) || name.endsWith('.env')) return !harmless.test(name.replace(/\.env$/, ''))
  return credentialNames.has(name) || endings.test(name) || forms.test(name) || inFolders.test(folder + name)
}

/** Names that are ordinary words of a command line too: `jq .key`, `grep -r credentials`. */
const ordinaryWord = /^(?:credentials|kubeconfig|\.envrc|[^/]*\.(?:env|key|kubeconfig))$/i

/**
 * Does a word of a shell body name such a file? One that may be another word counts only with a folder before it. A
 * wildcard counts as a letter, so that `*.pem` is one and `*` is none.
 */
export function isCredentialWord(word: string): boolean {
  const literal = word.replace(wildCharacters, 'x')
  // `jq .a.key` reads a field.
  if (/(?:^|\/)\.[^/]*\.?key$/i.test(literal)) return false
  return !ordinaryWord.test(literal) && isCredentialName(literal)
}

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
      expected === undefined || expected === '*' || name === expected || (isPattern(name) && canMatch(name, expected))
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
  const own = configFolder === undefined ? '' : namesFromHome(configFolder, home).join('/')
  const found = searched(`${pathStyle === 'posix' ? '' : 'i'} ${own}`)
  return (text) => {
    for (const [name] of text.matchAll(found))
      if (!name.toLowerCase().startsWith('.env') || isEnvFile(name)) return name
    return undefined
  }
}

function namesFromHome(folder: string, home: string): readonly string[] {
  const names = segmentsOf(folder)
  return folder.startsWith(`${home}/`) ? names.slice(segmentsOf(home).length) : names
}

/** The expression by its flags and Entia's own folder. One that is made anew for each call is never compiled. */
const searched = oncePerValue((key: string): RegExp => {
  const [flags = '', ...own] = key.split(' ')
  const names = credentialPaths.map((path) =>
    escaped(path.replace('~/', '')).replaceAll(String.raw`\*`, String.raw`[^/\s]+`),
  )
  if (own.join(' ') !== '') names.push(escaped(own.join(' ')))
  return new RegExp(
    String.raw`(?<![\p{L}\p{N}_\-.)\]])(?:(?:${names.join('|')})(?![\p{L}\p{N}_\-])|\.env(?:\.[\w-]+)*(?![\p{L}\p{N}_\-]))`,
    `gu${flags}`,
  )
})

function escaped(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
}
