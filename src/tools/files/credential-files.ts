/** Names that hold passwords, tokens or private keys, in lower case. */
const names = new Set([
  '.git-credentials',
  '.netrc',
  '_netrc',
  '.npmrc',
  '.pgpass',
  '.pypirc',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
  'id_rsa',
])
const endings = /\.(?:key|p12|pem|pfx)$/
const folders = /(?:^|\/)\.(?:aws|gnupg|kube|ssh)\//

/** Whether a path (with `/`) names a file that is there to hold secrets. `.env.example` and its like are not. */
export function isCredentialFile(path: string): boolean {
  const lower = path.toLowerCase()
  const name = lower.slice(lower.lastIndexOf('/') + 1)
  if (name === '.env' || name.startsWith('.env.')) return !/(?:example|sample|template)$/.test(name)
  return names.has(name) || endings.test(name) || folders.test(lower)
}
