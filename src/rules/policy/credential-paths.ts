import { canMatch, isPattern, plainText, wild, wildCharacters } from './glob.ts'
import type { PathStyle } from '../../protocol/policy.ts'
import { isAnchored, segmentsOf } from './paths.ts'
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
  '~/.config/hub',
  '~/.config/glab-cli',
  '~/.m2/settings.xml',
  // Of other agents and their models.
  '~/.claude/.credentials.json',
  '~/.claude.json',
  '~/.codex/auth.json',
  '~/.gemini/oauth_creds.json',
  '~/.qwen/oauth_creds.json',
  '~/.config/github-copilot',
  '~/.copilot/config.json',
  '~/.config/cursor/auth.json',
  '~/.cursor/mcp.json',
  '~/.config/goose/secrets.yaml',
  '~/.local/share/opencode/auth.json',
  '~/.huggingface',
  '~/.cache/huggingface/token',
  '~/.cache/huggingface/stored_tokens',
  '~/.kaggle',
  // Of clouds and hosts.
  '~/.config/rclone',
  '~/.config/doctl',
  '~/.config/hcloud',
  '~/.config/heroku',
  '~/.config/netlify',
  '~/.config/stripe',
  '~/.config/ngrok',
  '~/.config/op',
  '~/.config/sops',
  '~/.config/.wrangler',
  '~/.wrangler/config',
  '~/.local/share/com.vercel.cli',
  '~/.supabase/access-token',
  '~/.terraform.d/credentials.tfrc.json',
  '~/.fly/config.yml',
  '~/.ngrok2',
  '~/.oci',
  '~/.databrickscfg',
  '~/.snowflake',
  '~/.dbt/profiles.yml',
  // Of package managers and containers.
  '~/.cargo/credentials',
  '~/.cargo/credentials.toml',
  '~/.gem/credentials',
  '~/.nuget/NuGet/NuGet.Config',
  '~/.config/pypoetry/auth.toml',
  '~/.config/pip/pip.conf',
  '~/.pip/pip.conf',
  '~/.ivy2/.credentials',
  '~/.sbt/.credentials',
  '~/.config/containers/auth.json',
  '~/.config/git/credentials',
  '~/.subversion/auth',
  // Of browsers and key rings.
  '~/.local/share/keyrings',
  '~/.local/share/kwalletd',
  '~/.password-store',
  '~/.mozilla',
  '~/.thunderbird',
  '~/.config/chromium',
  '~/.config/google-chrome',
  '~/.config/BraveSoftware',
  '~/Library/Keychains',
  '~/Library/Application Support/Google/Chrome',
  '~/Library/Application Support/Firefox',
  // What was typed, passwords among it.
  '~/.local/share/fish/fish_history',
  '~/.zsh_sessions',
  '/etc/shadow',
  '/proc/*/environ',
  // The same of one thread.
  '/proc/*/task/*/environ',
]

/** Those that a project may have as well, without secrets in them. */
const inHomeAlone: readonly string[] = ['~/.yarnrc.yml', '~/.bundle/config', '~/.gradle/gradle.properties']

/** Names of files that hold secrets wherever they lie, in lower case. */
const credentialNames = new Set([
  '.boto',
  '.dockercfg',
  '.dockerconfigjson',
  '.envrc',
  '.git-credentials',
  '.histfile',
  '.htpasswd',
  '.lesshst',
  '.my.cnf',
  '.mylogin.cnf',
  '.netrc',
  '.npmrc',
  '.pgpass',
  '.pypirc',
  '.s3cfg',
  '.sentryclirc',
  '.terraformrc',
  '.vault-token',
  '.viminfo',
  '_netrc',
  'application_default_credentials.json',
  'credentials',
  'credentials.json',
  'credentials.toml',
  'fish_history',
  'id_dsa',
  'id_ecdsa',
  'id_ecdsa_sk',
  'id_ed25519',
  'id_ed25519_sk',
  'id_rsa',
  'kubeconfig',
  'rclone.conf',
  'terraform.tfstate',
])
const endings = /\.(?:env|jks|kdbx|key|keystore|kubeconfig|p12|pem|pfx|ppk)$/
const forms = /^(?:client_secret.*\.json|kubeconfig\.ya?ml|service[-_]account.*\.json|\.\w*history)$/
/** Such files of one folder. */
const inFolders = /(?:^|\/)(?:\.git\/(?:.*\/)?config|\.?composer\/auth\.json)$/
/** What holds secrets in a home folder, in any other folder. */
const likeAtHome = new RegExp(String.raw`(?:^|/)(?:${namesAtHome()})(?:/|$)`)
const harmless = /(?:example|sample|template)s?$/
/** Suffixes of copies. */
const copyMarks = /(?:~|[._-](?:bak|backup|copy|old|orig|save|sw[op]|tmp|\d+))+$/

function namesAtHome(): string {
  const names = credentialPaths.filter((path) => path.startsWith('~/')).map((path) => path.slice(2))
  return names.map((name) => name.toLowerCase().replaceAll('.', String.raw`\.`)).join('|')
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
  const readings = [word.replaceAll(wild.unknown, ''), word].map((one) => one.replace(wildCharacters, 'x'))
  // `jq .a.key` reads a field.
  return readings.some(
    (one) => !/(?:^|\/)\.[^/]*\.?key$/i.test(one) && !ordinaryWord.test(one) && isCredentialName(one),
  )
}

/** `.env` and `.env.*`, wherever they lie, without those that hold no values. */
function isEnvFile(name: string): boolean {
  return /^\.env(\.|$)/i.test(name) && !/(example|sample|template)$/i.test(name)
}

/** Files and folders of Entia's own, absolute. */
export interface OwnPlaces {
  readonly configFolder?: string | undefined
  /** Where tokens and chats lie. */
  readonly ownPaths?: readonly string[] | undefined
}

function allOf({ configFolder, ownPaths = [] }: OwnPlaces): readonly string[] {
  return configFolder === undefined ? ownPaths : [configFolder, ...ownPaths]
}

/** The list as absolute paths, with Entia's own places. Links in it are not resolved. */
export function credentialFolders(home: string, own: OwnPlaces = {}): readonly string[] {
  const listed = [...credentialPaths, ...inHomeAlone].map((path) => path.replace(/^~/, () => home))
  return [...listed, ...allOf(own)]
}

/** Is a path, or can a pattern be, one of the credential paths or below one? */
export function isCredentialPath(path: readonly string[], folders: readonly (readonly string[])[]): boolean {
  const open = path.findIndex((name) => name.includes(wild.unknown))
  if (path.some(canBeEnvFile) || (open !== -1 && isLikeAtHome(path.slice(open)))) return true
  // What is not known may have slashes in it.
  const isDeep = open !== -1 && open === path.length - 1
  return open !== 0 && folders.some((folder) => (isDeep || folder.length <= path.length) && meets(path, folder))
}

/** Names below a home folder that hold secrets. */
const namesBelowHome = credentialPaths.filter((path) => path.startsWith('~/')).map((path) => path.split('/').slice(1))

/** Has a path, behind a part that is not known, names as a home folder has them? Wildcards alone say nothing. */
function isLikeAtHome(path: readonly string[]): boolean {
  const isLike = (names: readonly string[], from: number): boolean =>
    names.every((name, at) => mayBe(path[from + at], name)) &&
    path.slice(from, from + names.length).some((name) => plainText(name) !== '')
  return namesBelowHome.some((names) => path.some((_, from) => isLike(names, from)))
}

function mayBe(given: string | undefined, name: string): boolean {
  if (given === undefined || given === name) return given === name
  // `"$name.$type"` is any file.
  const isNarrow = !given.startsWith(wild.unknown) || plainText(given).replace(/\W/g, '').length > 1
  return isPattern(given) && isNarrow && canMatch(given, name)
}

/** Is a path, or can a pattern be, a folder above one of the listed paths? `.env` files do not count. */
export function isAboveCredentials(path: readonly string[], folders: readonly (readonly string[])[]): boolean {
  return isAnchored(path) && folders.some((folder) => path.length < folder.length && meets(path, folder))
}

/** Do the names that both have agree? */
function meets(path: readonly string[], folder: readonly string[]): boolean {
  return path.every((name, at) => {
    const expected = folder[at]
    if (expected === '*') return processName.test(name) || isPattern(name)
    return expected === undefined || name === expected || (isPattern(name) && canMatch(name, expected))
  })
}

/** What `*` stands for in a list: a process or a thread. */
const processName = /^(?:\d+|self|thread-self)$/

const envNames = ['.env', '.env.local', '.env.production', '.env.development', '.env.test', '.env.x']

function canBeEnvFile(name: string): boolean {
  if (!isPattern(name)) return isEnvFile(name)
  // Of a name that is not known two letters at least have to agree: `"$name.$type"` is any file.
  if (name.includes(wild.unknown) && plainText(name).replace(/\W/g, '').length < 2) return false
  // A pattern that begins with `.env.` can match some file of that name, unless its end says which.
  return envNames.some((one) => canMatch(name, one)) || (/^\.env\./i.test(name) && isEnvFile(plainText(name)))
}

/** Gives a function that finds the name of a credential path in the text of a program, if there is one. */
export function credentialSearch(
  home: string,
  own: OwnPlaces,
  pathStyle: PathStyle = 'posix',
): (text: string) => string | undefined {
  const places = allOf(own).map((path) => namesFromHome(path, home).join('/'))
  const found = searched([pathStyle === 'posix' ? '' : 'i', ...places].join('\n'))
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
  const [flags = '', ...own] = key.split('\n')
  const names = credentialPaths.map((path) =>
    escaped(path.replace('~/', '')).replaceAll(String.raw`\*`, String.raw`[^/\s]+`),
  )
  names.push(...own.filter((name) => name !== '').map(escaped))
  return new RegExp(
    String.raw`(?<![\p{L}\p{N}_\-.)\]])(?:(?:${names.join('|')})(?![\p{L}\p{N}_\-])|\.env(?:\.[\w-]+)*(?![\p{L}\p{N}_\-]))`,
    `gu${flags}`,
  )
})

function escaped(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
}
