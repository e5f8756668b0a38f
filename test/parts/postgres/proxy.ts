import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** How an answer ends: Postgres waits for the next query. One more byte says whether it does so in a transaction. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5])

/** What happens to the next query that has a text in it. */
export type Mishap =
  /** Its connection is cut once the server has answered: it is committed, and its answer is lost. */
  | 'answer lost'
  /** Its connection is cut before the server gets it. */
  | 'query lost'
  /** The client's connection is cut, and the server gets the query when `deliver` is called. */
  | 'query late'

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

/** A network between a store and Postgres, whose connections can be cut and held up. */
export class Proxy {
  readonly #target: URL
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  readonly #late: (() => Promise<void>)[] = []
  #mishap: { readonly text: string; readonly what: Mishap; readonly happened: () => void } | undefined
  #isCut = false
  #heldUp: (() => void)[] | undefined
  #onRefused = (): void => undefined
  #onKept = (): void => undefined

  private constructor(target: URL) {
    this.#target = target
    this.#server = createServer((client) => this.#join(client))
  }

  /** @param url of the server */
  static async start(url: string): Promise<Proxy> {
    const proxy = new Proxy(new URL(url))
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  /** Where stores reach the server through it. */
  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('The proxy has no port.')
    const own = new URL(this.#target)
    own.host = `127.0.0.1:${address.port}`
    return own.href
  }

  /** Resolves once it has happened. */
  next(what: Mishap, text: string): Promise<void> {
    return new Promise((happened) => (this.#mishap = { text, what, happened }))
  }

  /** Ends all connections and takes no new ones until `mend`. */
  cut(): void {
    this.#isCut = true
    this.#endAll()
  }

  /** Ends some of the connections, which may be made again at once. Gives how many. */
  cutSome(isCut: () => boolean): number {
    const cut = [...this.#pairs].filter(isCut)
    for (const pair of cut) this.#end(pair)
    return cut.length
  }

  /** Resolves once so many connections were refused. */
  refused(count: number): Promise<void> {
    let left = count
    return new Promise((resolve) => (this.#onRefused = () => void (--left === 0 && resolve())))
  }

  mend(): void {
    this.#isCut = false
  }

  /** Keeps all answers back until `letThrough`. */
  holdUp(): void {
    this.#heldUp = []
  }

  /** Resolves once so many answers are kept back. */
  kept(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onKept = () => void ((this.#heldUp?.length ?? 0) >= count && resolve())
      this.#onKept()
    })
  }

  letThrough(): void {
    const heldUp = this.#heldUp ?? []
    this.#heldUp = undefined
    for (const pass of heldUp) pass()
  }

  /** Lets new answers through. Those that were kept back are lost, and no end of their connections hears of it. */
  forget(): void {
    this.#heldUp = undefined
  }

  /** Gives the server what came late, and resolves once it has answered. */
  async deliver(): Promise<void> {
    const late = this.#late.splice(0)
    await Promise.all(late.map((pass) => pass()))
  }

  #join(client: Socket): void {
    if (this.#isCut) {
      client.destroy()
      this.#onRefused()
      return
    }
    const server = connect(Number(this.#target.port), this.#target.hostname)
    const pair = { client, server }
    this.#pairs.add(pair)
    let awaitsAnswer: (() => void) | undefined
    const end = (): void => this.#end(pair)
    client.on('error', end).on('close', () => this.#pairs.has(pair) && end())
    server.on('error', end).on('close', end)
    client.on('data', (bytes) => {
      const mishap = this.#mishap
      if (mishap === undefined || !bytes.includes(mishap.text)) {
        server.write(bytes)
        return
      }
      this.#mishap = undefined
      if (mishap.what === 'answer lost') {
        awaitsAnswer = mishap.happened
        server.write(bytes)
        return
      }
      if (mishap.what === 'query lost') end()
      else {
        // The server is told of no end.
        this.#pairs.delete(pair)
        client.destroy()
        this.#late.push(async () => {
          // It has given up what was begun and not ended, or was killed.
          if (server.destroyed) return
          server.write(bytes)
          await Promise.race([once(server, 'data'), once(server, 'close')])
          server.destroy()
        })
      }
      mishap.happened()
    })
    server.on('data', (bytes) => {
      if (awaitsAnswer !== undefined) {
        if (!bytes.subarray(-readyForQuery.length - 1, -1).equals(readyForQuery)) return
        end()
        awaitsAnswer()
      } else if (this.#heldUp === undefined) client.write(bytes)
      else {
        this.#heldUp.push(() => client.write(bytes))
        this.#onKept()
      }
    })
  }

  #end(pair: Pair): void {
    this.#pairs.delete(pair)
    pair.client.destroy()
    pair.server.destroy()
  }

  #endAll(): void {
    for (const pair of this.#pairs) this.#end(pair)
  }

  async close(): Promise<void> {
    this.#isCut = true
    this.#endAll()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
