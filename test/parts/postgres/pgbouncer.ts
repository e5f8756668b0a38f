import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { asOther, freePort } from './server.ts'

/** Whether this machine has the program. */
export const hasPgBouncer = spawnSync('pgbouncer', ['--version']).status === 0

/** A PgBouncer in front of a server, which gives each transaction to any connection of a few. */
export class PgBouncer {
  readonly url: string
  readonly #folder: string
  #process: ChildProcess | undefined

  private constructor(url: string, folder: string) {
    this.url = url
    this.#folder = folder
  }

  /** @param database where the server has it */
  static async start(database: string): Promise<PgBouncer> {
    const { hostname, port, username } = new URL(database)
    const folder = await mkdtemp(join(tmpdir(), 'entia-pgbouncer-'))
    const own = await freePort()
    await writeFile(join(folder, 'users.txt'), `"${username}" ""\n`)
    const settings = [
      '[databases]',
      `* = host=${hostname} port=${port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${own}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${join(folder, 'users.txt')}`,
      'pool_mode = transaction',
      'default_pool_size = 5',
      'max_client_conn = 200',
    ]
    await writeFile(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`)
    if (asOther !== undefined) await chown(folder, asOther.uid, asOther.gid)
    const url = Object.assign(new URL(database), { hostname: '127.0.0.1', port: String(own) }).href
    const bouncer = new PgBouncer(url, folder)
    await bouncer.begin()
    return bouncer
  }

  /** Starts it, again after a kill, and resolves when it takes connections. */
  async begin(): Promise<void> {
    const child = spawn('pgbouncer', ['-q', join(this.#folder, 'pgbouncer.ini')], { stdio: 'ignore', ...asOther })
    this.#process = child
    while (!(await takesConnections(this.url))) {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}.`)
      await setTimeout(10)
    }
  }

  async kill(): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  async stop(): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

async function takesConnections(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
