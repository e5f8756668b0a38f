import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import type { PolicyConfig } from 'entia/runtime'
import { inject, onTestFinished } from 'vitest'
import { SessionSandbox } from '../../../src/runtime/sandbox/session-sandbox.ts'
import { BackgroundShells } from '../../../src/runtime/tools/background-shells.ts'
import { JsProcesses } from '../../../src/runtime/tools/js/js-processes.ts'
import { toolsIn, type Calls } from '../../runtime/tools/tools-in.ts'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'

export const hasSandbox = inject('hasSandbox')

/** A home folder, and a project in it whose tools run in a sandbox. */
export interface Confined {
  readonly home: string
  readonly cwd: string
  readonly call: Calls
  readonly bash: (command: string) => Promise<string>
  readonly sandbox: SessionSandbox
}

export interface ConfinedOptions {
  /** By their paths in the home folder. */
  readonly files?: Readonly<Record<string, string>>
  readonly config?: PolicyConfig
  readonly allowedDomains?: readonly string[]
  /** Variables of the programs. */
  readonly env?: Readonly<Record<string, string>>
  /** The project, from home, or absolute. @default 'app' */
  readonly project?: string
  /** Makes more, before the sandbox is. */
  readonly prepare?: (home: string) => void
}

export async function confined(options: ConfinedOptions = {}): Promise<Confined> {
  const { allowedDomains, config = {}, files = {}, prepare, project = 'app' } = options
  const home = await tempFolder()
  const cwd = resolve(home, project)
  await mkdir(cwd, { recursive: true })
  await addFiles(home, files)
  prepare?.(home)
  const folders = {
    ...{ config: join(home, 'entia/config'), data: join(home, 'entia/data') },
    ...{ cache: join(home, 'entia/cache'), state: join(home, 'entia/state') },
  }
  const sandbox = await SessionSandbox.open({ mode: 'require', cwd, home, folders, config, allowedDomains })
  const [js, shells] = [new JsProcesses(), new BackgroundShells()]
  onTestFinished(async () => {
    await Promise.all([js.close(), shells.close()])
    await sandbox.close()
  })
  const env = { ...process.env, HOME: home, ...options.env }
  const call = toolsIn(cwd, { home, env, sandbox, js, shells })
  return { home, cwd, call, sandbox, bash: (command) => call('bash', { command }) }
}

/** A server on this machine, and how often it was asked. */
export async function loopback() {
  let asked = 0
  const server = createServer((_, response) => {
    asked++
    response.end('let in')
  }).listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  onTestFinished(() => void server.close())
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked }
}
