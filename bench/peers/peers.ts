import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Peer } from './work.ts'
import manifest from './external/package.json' with { type: 'json' }

/** A peer as the bench knows it before it is loaded. */
export interface KnownPeer {
  readonly title: string
  readonly load: () => Promise<{ readonly peer: Peer }>
  /** What has to be installed for it in `external`, at the versions that the package.json there names. */
  readonly packages?: readonly (keyof typeof versions)[]
  /** In process it is what another one is. @default false */
  readonly onlyOverHttp?: boolean
}

const folder = join(import.meta.dirname, 'external')
const versions = manifest.optionalDependencies

/** Entia, and what it is measured beside, by name. */
export const peers: Readonly<Record<string, KnownPeer>> = {
  entia: { title: 'Entia', load: () => import('./entia.ts') },
  'bare-fetch': { title: 'bare loop on `fetch`', load: () => import('./bare-fetch.ts') },
  'bare-sdk': { title: 'bare loop on `openai`', load: () => import('./bare-sdk.ts'), onlyOverHttp: true },
  'ai-sdk': {
    title: `AI SDK ${versions.ai}`,
    load: () => loadExternal('ai-sdk.ts'),
    packages: ['ai', '@ai-sdk/openai', 'zod'],
  },
  pi: {
    title: `pi ${versions['@earendil-works/pi-agent-core']}`,
    load: () => loadExternal('pi.ts'),
    packages: ['@earendil-works/pi-agent-core', '@earendil-works/pi-ai'],
  },
}

/** Loads an adapter that is typed by a project of its own: the checks of this one have to do without what it imports. */
async function loadExternal(file: string): Promise<{ readonly peer: Peer }> {
  return (await import(join(folder, file))) as { readonly peer: Peer }
}

/** Installs what those peers lack. Gives what is missing all the same, by the name of the peer. */
export async function install(names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  if ((await missing(names)).size === 0) return new Map()
  process.stderr.write('Installing the peers …\n')
  const options = ['--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = spawn('npm', ['install', '--prefix', folder, ...options], { cwd: folder, stdio: ['ignore', 2, 2] })
  await once(npm, 'close').catch((error: unknown) => process.stderr.write(`npm cannot be run: ${String(error)}\n`))
  return await missing(names)
}

async function missing(names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const lacks = new Map<string, readonly string[]>()
  for (const name of names) {
    const packages = peers[name]?.packages ?? []
    const installed = await Promise.all(packages.map(async (each) => (await installedVersion(each)) === versions[each]))
    const absent = packages.filter((_, index) => installed[index] !== true).map((each) => `${each}@${versions[each]}`)
    if (absent.length > 0) lacks.set(name, absent)
  }
  return lacks
}

async function installedVersion(name: string): Promise<unknown> {
  try {
    const text = await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')
    return (JSON.parse(text) as { readonly version?: unknown }).version
  } catch {
    return undefined
  }
}
