/** Lower case. */
const names = new Set([
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
/** Folders that hold only such files, and such files in one folder. */
const places =
  /(?:^|\/)(?:\.(?:aws|azure|gnupg|kube|ssh)\/|\.config\/(?:gcloud\/|gh\/hosts\.ya?ml$)|\.docker\/config\.json$|\.git\/(?:.*\/)?config$|\.m2\/settings\.xml$|\.?composer\/auth\.json$)/
const harmless = /(?:example|sample|template)s?$/
/** Suffixes of copies. */
const copyMarks = /(?:~|[._-](?:bak|backup|copy|old|orig|save|sw[op]|tmp|\d+))+$/

/** Does a path (with `/`) name a file with secrets, or a copy of one (`id_rsa.bak`, `.env~`)? `.env.example` is none. */
export function isCredentialFile(path: string): boolean {
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
  return names.has(name) || endings.test(name) || forms.test(name) || places.test(folder + name)
}
