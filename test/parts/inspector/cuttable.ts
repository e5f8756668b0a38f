import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface Cuttable extends AsyncDisposable {
  /** The same page by way of this line. */
  readonly url: string
  /** Ends all connections, and takes no others until `mend`. */
  cut(): void
  mend(): void
}

/** A line to a server that can be cut as a pulled cable is. */
export async function cuttable(url: string): Promise<Cuttable> {
  const { hash, hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let isCut = false
  const line = createServer((near) => {
    if (isCut) return void near.destroy()
    const far = connect(Number(port), hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  line.listen(0, '127.0.0.1')
  await once(line, 'listening')
  const end = (): void => sockets.forEach((socket) => socket.destroy())
  return {
    url: `http://127.0.0.1:${(line.address() as AddressInfo).port}/${hash}`,
    cut: () => {
      isCut = true
      end()
    },
    mend: () => void (isCut = false),
    [Symbol.asyncDispose]: async () => {
      const closed = once(line, 'close')
      line.close()
      end()
      await closed
    },
  }
}
