import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Client, ClientOptions, ElicitResult, OAuthClientProvider, Transport } from '@modelcontextprotocol/client'
import type { ToolContext, ToolOutput } from '../../tools/port.ts'
import { errorOutput } from '../../tools/tool-output.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { optionalPackages } from '../../base/optional-packages.ts'
import { childEnvironment } from '../tools/child-environment.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { callOutput, resourceOutput, withStopped } from './call-output.ts'
import { lenient, type Offer, offered } from './offer.ts'
import { ServerPipe, type ServerProgram } from './server-pipe.ts'
import { serverRoots } from './server-roots.ts'
import { plainText } from './tool-declarations.ts'

/** A server that is started here, or one on the network. */
export type McpTarget =
  | {
      readonly command: string
      /** @default none */
      readonly args?: readonly string[] | undefined
      /** Its variables, besides those of this process that hold no secrets. @default none */
      readonly env?: Readonly<Record<string, string>> | undefined
      /** @default the working folder */
      readonly cwd?: string | undefined
    }
  | {
      readonly url: string
      /** Sent with each request. @default none */
      readonly headers?: Readonly<Record<string, string>> | undefined
    }

/** Answers a question that a server asks a person. */
export type AnswerElicitation = (
  question: { readonly server: string; readonly message: string; readonly schema: JsonObject },
  options: { readonly signal: AbortSignal },
) => Promise<ElicitResult>

/** Options of `connectMcp`. */
export interface ConnectOptions {
  /** Stands in front of its tools' names. @default the name that the server gives itself */
  readonly name?: string | undefined
  /** The working folder. @default that of the process */
  readonly cwd?: string | undefined
  /**
   * Folders that the server may work in (its roots), relative to `cwd`; `[]`: none are announced. @default `cwd`; none where an
   * argument of the server's program is a folder, which the server would ignore in favour of the roots
   */
  readonly roots?: readonly string[] | undefined
  /** Asks a person what a server wants to know. Absent: servers get no answer. */
  readonly elicit?: AnswerElicitation | undefined
  /** How long a connection may take, in milliseconds of real time. @default 30,000 */
  readonly connectTimeoutMs?: number | undefined
  /** Longest message of the server; a longer one ends the connection. @default 16,777,216 */
  readonly maxMessageBytes?: number | undefined
  /** Variables that it gets although their names look like secrets. @default none */
  readonly passEnv?: readonly string[] | undefined
  /** Signs in to a server on the network. */
  readonly auth?: OAuthClientProvider | undefined
}

/** What `connectMcp` does where its options say nothing. */
export const connectDefaults = Object.freeze({ connectTimeoutMs: 30_000, maxMessageBytes: 16_777_216 } as const)

/** What a chat session connects with, besides. */
export interface ConnectionOptions extends ConnectOptions, Pick<ServerProgram, 'confine'> {}

interface Live {
  readonly client: Client
  readonly transport: Transport
  /** The server has answered, with an error. */
  readonly isAnswer: (error: unknown) => error is Error
}

/** The SDK's own limit of a minute does not hold: the World's time limits of calls do. */
const noTimeoutMs = 2 ** 31 - 1
/** How long a server may take to answer the newer protocol's first request before it is asked as the older ones are. */
const probeTimeoutMs = 10_000
/**
 * A connection to an MCP server. It is made at its first use, and again at the first use after it was lost; a call that was
 * under way then fails.
 */
export class McpConnection {
  readonly #target: McpTarget
  readonly #options: ConnectionOptions
  readonly #listeners = new Set<(offer: Offer) => void>()
  #name: string | undefined
  #live: Promise<Live> | undefined
  #offer: Offer | undefined
  #protocol: string | undefined
  /** The server is of the older protocol, or ends at a request that it does not know. */
  #isLegacy = false
  readonly #closing = new AbortController()

  /** @param known what the server offered when it was connected last */
  constructor(target: McpTarget, options: ConnectionOptions = {}, known?: Offer) {
    this.#offer = known
    this.#target = target
    this.#options = options
    this.#name = options.name
  }

  /** Of the options, or as the server calls itself. */
  get name(): string {
    return this.#name ?? this.#offer?.title ?? 'server'
  }

  /** The version of the protocol that was agreed on last, such as `2026-07-28`; `undefined`: it was not connected yet. */
  get protocol(): string | undefined {
    return this.#protocol
  }

  /** What the server offered last; `undefined`: it was not connected yet. */
  get offer(): Offer | undefined {
    return this.#offer
  }

  /** Calls a function whenever the server offers something else. Returns a function that ends that. */
  onChange(listener: (offer: Offer) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Connects, if it is not connected. */
  async connect(): Promise<Offer> {
    await this.#connected()
    return this.#offer as Offer
  }

  /**
   * Calls a tool.
   *
   * @param tool as its server calls it
   * @throws when the connection is lost, and the signal's reason: then the server was asked to cancel
   */
  async call(
    tool: string,
    input: JsonObject,
    { progress, signal }: Pick<ToolContext, 'signal'> & Partial<Pick<ToolContext, 'progress'>>,
  ): Promise<ToolOutput | Json> {
    const { outputSchema } = this.#offer?.tools.find(({ name }) => name === tool) ?? {}
    return this.#use(signal, async ({ client, transport }) => {
      const result = await client.callTool(
        { name: tool, arguments: input },
        {
          signal,
          timeout: noTimeoutMs,
          // Results are checked here: a schema that cannot be read is no reason to refuse the call.
          toolDefinition: { name: tool, inputSchema: { type: 'object' } },
          ...(progress !== undefined && {
            onprogress: ({ message, progress: done, total }) => {
              const words = message === undefined ? `${done}${total === undefined ? '' : ` of ${total}`}` : message
              progress(plainText(words, 200), total === undefined || total <= 0 ? undefined : done / total)
            },
          }),
        },
      )
      const output = callOutput(result, outputSchema)
      return transport instanceof ServerPipe ? withStopped(output, transport.confined) : output
    })
  }

  /** The server's resources, one a line. */
  async listResources(signal: AbortSignal): Promise<ToolOutput | Json> {
    return this.#use(signal, async ({ client }) => {
      const options = { signal, timeout: noTimeoutMs }
      const [{ resources }, { resourceTemplates }] = await Promise.all([
        client.listResources(undefined, options),
        client.listResourceTemplates(undefined, options).catch(() => ({ resourceTemplates: [] })),
      ])
      const lines = [
        ...resources.map(({ description, mimeType, name, uri }) => [uri, name, mimeType, description]),
        ...resourceTemplates.map(({ description, name, uriTemplate }) => [
          uriTemplate,
          name,
          '(template)',
          description,
        ]),
      ]
      const said = lines.map((words) => words.filter((word) => word !== undefined).map((word) => plainText(word, 300)))
      return said.length === 0
        ? '[no resources]'
        : said.map((words) => words.join(' · ').replaceAll('\n', ' ')).join('\n')
    })
  }

  async readResource(uri: string, signal: AbortSignal): Promise<ToolOutput | Json> {
    return this.#use(signal, async ({ client }) => {
      return resourceOutput(await client.readResource({ uri }, { signal, timeout: noTimeoutMs }))
    })
  }

  /** The text of a prompt. @throws for one that the server does not have or cannot make */
  async prompt(name: string, values: Readonly<Record<string, string>>): Promise<string> {
    const { client } = await this.#connected()
    const { messages } = await client.getPrompt({ name, arguments: { ...values } })
    return messages.map(({ content }) => (content.type === 'text' ? plainText(content.text, 50_000) : '')).join('\n\n')
  }

  /** Ends the connection, and the server if it was started here. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new Error(`The connection to the MCP server '${this.name}' is closed.`))
    await this.#drop(this.#live)
  }

  async #drop(live: Promise<Live> | undefined): Promise<void> {
    if (live === undefined) return
    if (this.#live === live) this.#live = undefined
    try {
      const { client, transport } = await live
      await client.close()
      await transport.close()
    } catch {
      // It was not connected, or is lost already.
    }
  }

  /** Does something with the connection. What the server refuses, the model reads. */
  async #use(signal: AbortSignal, work: (live: Live) => Promise<ToolOutput | Json>): Promise<ToolOutput | Json> {
    signal.throwIfAborted()
    const connected = this.#connected()
    const live = await connected
    try {
      return await work(live)
    } catch (error) {
      signal.throwIfAborted()
      if (live.isAnswer(error)) return errorOutput(plainText(error.message, 4_000))
      // Over HTTP a lost connection shows in the next request alone.
      const held = this.#live
      if (held !== undefined && (await held.catch(() => undefined)) === live) void this.#drop(held)
      throw new Error(this.#lost(live.transport, error), { cause: error })
    }
  }

  #lost(transport: Transport, error: unknown): string {
    const what = `The connection to the MCP server '${this.name}' was lost`
    if (!(transport instanceof ServerPipe)) return `${what}: ${reasonOf(error)}`
    const { circumstances, ending } = transport
    return `${what}: the server ended (${ending ?? reasonOf(error)}).${circumstances}`
  }

  async #connected(): Promise<Live> {
    this.#closing.signal.throwIfAborted()
    if (this.#live !== undefined) return this.#live
    const opening = this.#open()
    this.#live = opening
    opening.catch(() => {
      if (this.#live === opening) this.#live = undefined
    })
    return opening
  }

  async #open(): Promise<Live> {
    const sdk = await optionalPackages(
      'connectMcp',
      ['@modelcontextprotocol/client'],
      () => import('@modelcontextprotocol/client'),
    )
    const { connectTimeoutMs: timeout = connectDefaults.connectTimeoutMs } = this.#options
    const once = async (): Promise<Live> => {
      const transport = lenient(this.#transport(sdk.StreamableHTTPClientTransport))
      const client = new sdk.Client({ name: 'entia', version: '1' }, this.#clientOptions())
      this.#answerServer(client)
      // The handshake may hang although its own requests have a time limit, such as in a redirect.
      const signal = AbortSignal.any([AbortSignal.timeout(timeout), this.#closing.signal])
      // The SDK's first request, which finds out the protocol, goes on whatever the signal says.
      const stop = (): void => void transport.close().catch(() => undefined)
      signal.addEventListener('abort', stop)
      try {
        signal.throwIfAborted()
        const options = { timeout, maxTotalTimeout: timeout, signal }
        await client.connect(transport, this.#isLegacy ? { ...options, prior: { kind: 'legacy' } } : options)
        this.#note(await offered(client, timeout))
      } catch (error) {
        await transport.close().catch(() => undefined)
        throw new Error(this.#unreachable(transport, signal.aborted ? signal.reason : error), { cause: error })
      } finally {
        signal.removeEventListener('abort', stop)
      }
      this.#isLegacy = client.getProtocolEra() === 'legacy'
      this.#protocol = client.getNegotiatedProtocolVersion()
      return { client, transport, isAnswer: (error) => error instanceof sdk.ProtocolError }
    }
    let live: Live
    try {
      live = await once()
    } catch (error) {
      // A server that ends at the first request of the newer protocol.
      if (
        this.#isLegacy ||
        !('command' in this.#target) ||
        !(error instanceof Error) ||
        !/\bended\b/.test(error.message)
      )
        throw error
      this.#isLegacy = true
      try {
        live = await once()
      } catch (second) {
        this.#isLegacy = false
        throw second
      }
    }
    const { client, transport } = live
    const closed = client.onclose
    const onclose = (): void => {
      closed?.()
      void this.#forget(client)
    }
    Object.assign(client, { onclose })
    if (this.#closing.signal.aborted) await transport.close()
    return live
  }

  async #forget(client: Client): Promise<void> {
    const live = this.#live
    const held = await live?.catch(() => undefined)
    if (held?.client === client && this.#live === live) this.#live = undefined
  }

  #unreachable(transport: Transport, error: unknown): string {
    const what = `The MCP server '${this.name}' cannot be reached`
    if (!(transport instanceof ServerPipe) || transport.ending === undefined) return `${what}: ${reasonOf(error)}`
    return `${what}: it ended (${transport.ending}).${transport.circumstances}`
  }

  #transport(Http: typeof import('@modelcontextprotocol/client').StreamableHTTPClientTransport): Transport {
    const { auth, cwd = process.cwd(), maxMessageBytes = connectDefaults.maxMessageBytes, passEnv = [] } = this.#options
    const target = this.#target
    if ('url' in target) {
      return new Http(new URL(target.url), {
        fetch: boundedFetch(maxMessageBytes),
        ...(target.headers !== undefined && { requestInit: { headers: { ...target.headers } } }),
        ...(auth !== undefined && { authProvider: auth }),
      })
    }
    const env = { ...childEnvironment(process.env, passEnv), ...target.env }
    return new ServerPipe({
      command: target.command,
      args: target.args ?? [],
      env,
      cwd: target.cwd ?? cwd,
      maxMessageBytes,
      confine: this.#options.confine,
    })
  }

  #clientOptions(): ClientOptions {
    const renew = (): void => void this.#renew()
    const changed = { autoRefresh: false, debounceMs: 20, onChanged: renew }
    return {
      // No sampling: a server cannot spend the user's tokens.
      capabilities: {
        ...(serverRoots(this.#target, this.#options).length > 0 && { roots: {} }),
        ...(this.#options.elicit !== undefined && { elicitation: { form: {} } }),
      },
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeTimeoutMs } },
      listChanged: { tools: changed, prompts: changed, resources: changed },
    }
  }

  #answerServer(client: Client): void {
    const { elicit } = this.#options
    const folders = serverRoots(this.#target, this.#options)
    const roots = folders.map((folder) => ({ uri: pathToFileURL(folder).href, name: basename(folder) }))
    if (roots.length > 0) client.setRequestHandler('roots/list', () => ({ roots }))
    // Such as an answer to a request that was not sent: what is under way goes on.
    Object.assign(client, { onerror: () => {} })
    if (elicit === undefined) return
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) => {
      if (!('requestedSchema' in params)) return { action: 'decline' }
      const { message, requestedSchema } = params
      const question = { server: this.name, message: plainText(message, 4_000), schema: requestedSchema as JsonObject }
      return elicit(question, { signal })
    })
  }

  #note(offer: Offer): void {
    const isSame = JSON.stringify(offer) === JSON.stringify(this.#offer)
    this.#offer = offer
    if (!isSame) for (const listener of this.#listeners) listener(offer)
  }

  async #renew(): Promise<void> {
    const { connectTimeoutMs: timeout = connectDefaults.connectTimeoutMs } = this.#options
    try {
      const live = await this.#live
      if (live === undefined) return
      this.#note(await offered(live.client, timeout))
    } catch {
      // The next connection asks again.
    }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return plainText(String(error), 500)
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return plainText(`${error.message}${cause}`, 500)
}
