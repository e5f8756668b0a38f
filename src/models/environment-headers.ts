import { EntiaError } from '../base/entia-error.ts'

/** The environment never replaces the key in use. */
const keyHeaders: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key'])

/**
 * Reads headers from an environment variable, one `Name: value` per line.
 *
 * @throws `invalid-argument`, without the value, which may be a secret
 */
export function environmentHeaders(variable: string): Record<string, string> {
  const lines = (process.env[variable] ?? '').split('\n').map((line) => line.trim())
  const headers = lines.filter((line) => line !== '').map((line, index) => headerOf(variable, line, index + 1))
  return Object.fromEntries(headers.filter(([name]) => !keyHeaders.has(name)))
}

function headerOf(variable: string, line: string, number: number): readonly [name: string, value: string] {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase()
  const value = line.slice(colon + 1).trim()
  if (isHeader(name, value)) return [name, value]
  throw new EntiaError(
    'invalid-argument',
    `The environment variable ${variable} must hold one header a line, as in "Name: value", got something else as ` +
      `header ${number}. Correct it, or unset it.`,
    { variable },
  )
}

/**
 * Rejects invalid headers before an SDK does so and quotes them.
 *
 * @throws `invalid-argument`, without the values, which may be secret
 */
export function checkHeaders(provider: string, apiKey: string | undefined, headers: Readonly<Record<string, string>>) {
  if (apiKey !== undefined && !isHeader('authorization', apiKey)) {
    throw new EntiaError(
      'invalid-argument',
      `The API key of ${provider} must be text that can be sent as an HTTP header, got one with a line break or another ` +
        'character that no header can hold. Look for what was copied along with it.',
    )
  }
  const wrong = Object.entries(headers).find(([name, value]) => !isHeader(name, value))
  if (wrong === undefined) return
  throw new EntiaError(
    'invalid-argument',
    `The header ${JSON.stringify(wrong[0])} of ${provider} must have a name and a value that HTTP can hold. Correct the ` +
      'option headers.',
    { header: wrong[0] },
  )
}

function isHeader(name: string, value: string): boolean {
  try {
    return new Headers([[name, value]]).has(name)
  } catch {
    return false
  }
}

/**
 * Hides variables from an SDK's constructor: no option keeps the SDKs from sending these headers to any server. `make` must be
 * synchronous.
 */
export function withoutEnvironment<Client>(variables: readonly string[], make: () => Client): Client {
  const values = variables.map((name) => [name, process.env[name]] as const)
  for (const name of variables) delete process.env[name]
  try {
    return make()
  } finally {
    for (const [name, value] of values) if (value !== undefined) process.env[name] = value
  }
}
