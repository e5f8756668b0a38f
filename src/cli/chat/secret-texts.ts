/**
 * What looks like a secret in a typed line: keys and tokens by the forms that their issuers give them, private keys, passwords in
 * URLs, and values of names that say what they are.
 */
const secrets: readonly RegExp[] = [
  // Anthropic, OpenAI, Stripe, Moonshot and others.
  /\b(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9]{16,}/,
  /\bsk-[\w-]{20,}/,
  /\bgh[oprsu]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}/,
  /\bglpat-[\w-]{16,}/,
  /\bnpm_[A-Za-z0-9]{20,}|\bpypi-[\w-]{20,}|\bhf_[A-Za-z0-9]{20,}|\btvly-[\w-]{16,}/,
  /\bxox[abeoprs]-[\w-]{10,}|\bxapp-[\w-]{10,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}/,
  // JSON web tokens.
  /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i,
  /\b(?:authorization|proxy-authorization)\s*[:=]\s*\S+/i,
  /\bbearer\s+[\w.~+/-]{16,}/i,
  /\b[\w-]*(?:password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credentials?)[\w-]*["']?\s*[:=]\s*["']?[^\s"']{4,}/i,
  /\b(?:pass(?:word|phrase)?|pwd)\s+(?:is|ist|lautet)\s+\S+/i,
  /(?:^|\s)--?(?:password|passwd|token|secret|api-key)[ =]\S+/i,
]

/** Does a text have something in it that looks like a secret? */
export function hasSecret(text: string): boolean {
  return secrets.some((pattern) => pattern.test(text))
}
