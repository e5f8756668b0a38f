import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** What belongs to a connection, and would be lost, or be another's, behind a pooler. */
const ofConnection = /\bLISTEN\b|\bpg_(?:try_)?advisory_lock(?:_shared)?\(|^\s*SET (?!LOCAL)|\bPREPARE\b/i

interface Waiting {
  readonly client: PooledClient
  readonly bytes: Buffer
}

/**
 * A pooler of transactions, as PgBouncer is one: a connection to the server is a client's for one transaction, and then the next
 * one's. It refuses what belongs to a connection.
 */
export class Pooler {
  readonly #target: URL
  readonly #server: Server
  readonly #idle: ServerConnection[] = []
  readonly #waiting: Waiting[] = []
  readonly #sockets = new Set<Socket>()
  /** What was asked of it that belongs to a connection. */
  readonly refused: string[] = []
  /** Transactions that it has passed on. */
  transactions = 0

  private constructor(target: URL) {
    this.#target = target
    this.#server = createServer((socket) => this.#join(socket))
  }

  /** @param url of the server; @param size how many connections to it there are */
  static async start(url: string, size: number): Promise<Pooler> {
    const pooler = new Pooler(new URL(url))
    for (let each = 0; each < size; each++) pooler.#idle.push(await pooler.#connected())
    pooler.#server.listen(0, '127.0.0.1')
    await once(pooler.#server, 'listening')
    return pooler
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('The pooler has no port.')
    const own = new URL(this.#target)
    own.host = `127.0.0.1:${address.port}`
    return own.href
  }

  async close(): Promise<void> {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await once(this.#server, 'close')
  }

  async #connected(): Promise<ServerConnection> {
    const socket = connect(Number(this.#target.port), this.#target.hostname)
    this.#track(socket)
    const words = ['user', this.#target.username, 'database', this.#target.pathname.slice(1), '', '']
    socket.write(framed('', Buffer.concat([int32(196_608), Buffer.from(words.join('\0').slice(0, -1) + '\0')])))
    const server = new ServerConnection(socket)
    await server.isReady
    return server
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => this.#sockets.delete(socket))
  }

  #join(socket: Socket): void {
    this.#track(socket)
    const client: PooledClient = { socket, server: undefined }
    let bytes = Buffer.alloc(0)
    let hasBegun = false
    let batch: Buffer[] = []
    socket.on('data', (more) => {
      bytes = Buffer.concat([bytes, more])
      for (;;) {
        const header = hasBegun ? 1 : 0
        if (bytes.length < header + 4) return
        const length = header + bytes.readInt32BE(header)
        if (bytes.length < length) return
        const message = bytes.subarray(0, length)
        bytes = bytes.subarray(length)
        const type = hasBegun ? String.fromCharCode(message[0] ?? 0) : 'startup'
        if (type === 'startup') {
          hasBegun = true
          // Trusted; it has no key to cancel by; it is idle.
          socket.write(
            Buffer.concat([framed('R', int32(0)), framed('K', Buffer.alloc(8)), framed('Z', Buffer.from('I'))]),
          )
        } else if (type !== 'X') {
          const wrong = wrongIn(type, message)
          if (wrong !== undefined) this.refused.push(wrong)
          batch.push(message)
          if (type !== 'Q' && type !== 'S') continue
          this.#pass({ client, bytes: Buffer.concat(batch) })
          batch = []
        }
      }
    })
    // What it has begun ends with its connection to the server, as PgBouncer ends it.
    socket.on('close', () => client.server?.socket.destroy())
  }

  #pass(waiting: Waiting): void {
    const { bytes, client } = waiting
    // The one that has been idle for longest: seldom the one that this client had before.
    client.server ??= this.#idle.shift()
    const { server } = client
    if (server === undefined) return void this.#waiting.push(waiting)
    server.serve(client.socket, bytes, () => {
      this.transactions++
      client.server = undefined
      this.#idle.push(server)
      const next = this.#waiting.shift()
      if (next !== undefined) this.#pass(next)
    })
  }
}

interface PooledClient {
  readonly socket: Socket
  server: ServerConnection | undefined
}

class ServerConnection {
  readonly socket: Socket
  readonly isReady: Promise<void>
  #client: Socket | undefined
  #onIdle: () => void

  constructor(socket: Socket) {
    this.socket = socket
    const ready = Promise.withResolvers<void>()
    this.isReady = ready.promise
    this.#onIdle = ready.resolve
    let bytes = Buffer.alloc(0)
    socket.on('data', (more) => {
      this.#client?.write(more)
      bytes = Buffer.concat([bytes, more])
      while (bytes.length >= 5 && bytes.length >= 1 + bytes.readInt32BE(1)) {
        const length = 1 + bytes.readInt32BE(1)
        const isIdle = bytes[0] === 'Z'.charCodeAt(0) && bytes[5] === 'I'.charCodeAt(0)
        bytes = bytes.subarray(length)
        if (isIdle) this.#onIdle()
      }
    })
  }

  /** @param onIdle the transaction is over */
  serve(client: Socket, bytes: Buffer, onIdle: () => void): void {
    this.#client = client
    this.#onIdle = onIdle
    this.socket.write(bytes)
  }
}

/** `undefined`: it may be asked of any connection. */
function wrongIn(type: string, message: Buffer): string | undefined {
  const text = message.subarray(5).toString()
  if (type === 'P') {
    const [name = '', query = ''] = text.split('\0')
    return name !== '' || ofConnection.test(query) ? `${name} ${query}` : undefined
  }
  return type === 'Q' && ofConnection.test(text) ? text : undefined
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function framed(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}
