import { createHash, randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { optionalPackages } from '../../base/optional-packages.ts'
import { makePrivateFolder, writePrivateFile } from '../config/folders.ts'

/** What is kept of a server that was signed in to. */
interface Kept {
  readonly client?: StoredOAuthClientInformation | undefined
  readonly tokens?: StoredOAuthTokens | undefined
  readonly discovery?: OAuthDiscoveryState | undefined
  /** Where the browser comes back to; the registration at the server names it. */
  readonly redirectUrl?: string | undefined
}

/** Thrown where a person has to sign in. */
class SignInNeeded extends Error {
  override readonly name = 'SignInNeeded'

  constructor(server: string) {
    super(`it wants you to sign in. Type: entia mcp login ${server}`)
  }
}

/** Tokens of servers on the network: a file a server in the state folder, which its user alone may read. */
export class SignIns {
  readonly #folder: string

  /** @param state the state folder, absolute */
  constructor(state: string) {
    this.#folder = join(state, 'mcp')
  }

  /** Signs in with what is kept, and refreshes it. Where that does not do, the connection fails with `SignInNeeded`. */
  provider(server: string, url: string): OAuthClientProvider {
    return new KeptSignIn(server, this.#path(url))
  }

  /** @returns false: there was nothing to forget */
  async forget(url: string): Promise<boolean> {
    const path = this.#path(url)
    const isKept = (await keptAt(path)).tokens !== undefined
    await rm(path, { force: true })
    return isKept
  }

  /**
   * Has a person sign in: gives the address to open, and waits until their browser comes back to a port of this machine.
   *
   * @param show gets the address
   * @throws by its promise: the signal's reason; an Error that says why it failed
   */
  async signIn(server: string, url: string, show: (address: string) => void, signal: AbortSignal): Promise<void> {
    const sdk = await optionalPackages(
      'entia mcp login',
      ['@modelcontextprotocol/client'],
      () => import('@modelcontextprotocol/client'),
    )
    const path = this.#path(url)
    const before = await keptAt(path)
    const { server: listener, port } = await listening(portOf(before.redirectUrl))
    const redirectUrl = `http://127.0.0.1:${port}/callback`
    // What is registered names the address to come back to.
    const kept: Kept = redirectUrl === before.redirectUrl ? { ...before, tokens: undefined } : { redirectUrl }
    await keep(path, kept)
    const state = randomBytes(24).toString('base64url')
    const provider = new KeptSignIn(server, path, { redirectUrl, show, state })
    try {
      const begun = await sdk.auth(provider, { serverUrl: url })
      if (begun === 'AUTHORIZED') return
      const answer = await comeBack(listener, state, signal)
      const code = answer.get('code')
      if (code === null) throw new Error(`The server refused: ${answer.get('error') ?? 'it gave no code'}.`)
      const iss = answer.get('iss')
      await sdk.auth(provider, { serverUrl: url, authorizationCode: code, ...(iss !== null && { iss }) })
    } finally {
      listener.close()
      listener.closeAllConnections()
    }
  }

  #path(url: string): string {
    return join(this.#folder, `${createHash('sha256').update(url).digest('hex').slice(0, 32)}.json`)
  }
}

/** A sign-in that a person is at. */
interface Attended {
  readonly redirectUrl: string
  readonly state: string
  readonly show: (address: string) => void
}

class KeptSignIn implements OAuthClientProvider {
  readonly #server: string
  readonly #path: string
  readonly #attended: Attended | undefined
  #verifier: string | undefined

  constructor(server: string, path: string, attended?: Attended) {
    this.#server = server
    this.#path = path
    this.#attended = attended
  }

  get redirectUrl(): string {
    // Of a sign-in that nobody is at: it is not used.
    return this.#attended?.redirectUrl ?? 'http://127.0.0.1/callback'
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'Entia',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }
  }

  state(): string {
    return this.#attended?.state ?? ''
  }

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const { client } = await keptAt(this.#path)
    // No client is registered where nobody can sign in.
    if (client === undefined && this.#attended === undefined) throw new SignInNeeded(this.#server)
    return client
  }

  async saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    await this.#keep({ client })
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    return (await keptAt(this.#path)).tokens
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    await this.#keep({ tokens })
  }

  redirectToAuthorization(address: URL): void {
    if (this.#attended === undefined) throw new SignInNeeded(this.#server)
    this.#attended.show(address.href)
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    if (this.#verifier === undefined) throw new SignInNeeded(this.#server)
    return this.#verifier
  }

  async saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    await this.#keep({ discovery })
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return (await keptAt(this.#path)).discovery
  }

  async invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (scope === 'all') await this.#keep({ client: undefined, tokens: undefined, discovery: undefined })
    else if (scope !== 'verifier') await this.#keep({ [scope]: undefined })
  }

  async #keep(changed: Partial<Kept>): Promise<void> {
    await keep(this.#path, { ...(await keptAt(this.#path)), ...changed })
  }
}

async function keptAt(path: string): Promise<Kept> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Kept
  } catch {
    return {}
  }
}

async function keep(path: string, kept: Kept): Promise<void> {
  await makePrivateFolder(join(path, '..'))
  await writePrivateFile(path, JSON.stringify(kept))
}

function portOf(redirectUrl: string | undefined): number {
  return redirectUrl === undefined ? 0 : Number(new URL(redirectUrl).port)
}

/** A server on a port of this machine: the one of last time, if it is free. */
async function listening(wanted: number): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer()
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject)
        resolve()
      })
    })
  await listen(wanted).catch(async () => listen(0))
  const address = server.address()
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 }
}

/** What the browser brings back. Requests with another state are not ours. */
function comeBack(server: Server, state: string, signal: AbortSignal): Promise<URLSearchParams> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    if (signal.aborted) reject(signal.reason as Error)
    server.on('request', (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
      const isOurs = pathname === '/callback' && searchParams.get('state') === state
      const text = isOurs
        ? 'You may close this page and go back to the terminal.'
        : 'This is not the page you look for.'
      response.writeHead(isOurs ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
      response.end(text, () => isOurs && resolve(searchParams))
    })
  })
}
