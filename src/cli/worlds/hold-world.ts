import type { PostgresStore } from '../../doors/postgres/index.ts'
import type { Store, WorldInfo } from '../../stores/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { cleanName, plainText } from '../../tools/files/clean-text.ts'
import { UsageError } from '../parsed-words.ts'
import { ownerText, type WorldsOutput } from './world-lines.ts'

/** `entia worlds kill`: returns the exit code. @throws UsageError, `no-such-world` */
export async function killWorld(
  store: Store,
  name: string,
  reason = 'It was killed by hand.',
  out: WorldsOutput,
): Promise<number> {
  const shared = databaseOf(store, 'kill')
  const { heldBy } = await rootNamed(store, name)
  await shared.hold(name, { reason, seize: true })
  if (out.isJson) out.write(`${JSON.stringify({ name, quarantine: reason, ...(heldBy && { heldBy }) })}\n`)
  else {
    const from = heldBy === undefined ? 'No one drove it.' : `It was taken from ${ownerText(heldBy, out.nowMs)}.`
    const shown = cleanName(name)
    out.write(`${shown} is driven no more. ${from} Its letters wait; sessions that it has started run to their end.\n`)
    out.write(`To let it go on: entia worlds release ${shown}\n`)
  }
  return 0
}

/** `entia worlds release`: returns the exit code. @throws UsageError, `no-such-world` */
export async function releaseWorld(
  store: Store,
  name: string,
  root: string | undefined,
  out: WorldsOutput,
): Promise<number> {
  const shared = databaseOf(store, 'release')
  const info = (await store.list({ root: root ?? name })).find((world) => world.name === name)
  await shared.release(name, { root })
  const { quarantine } = info ?? {}
  if (out.isJson) out.write(`${JSON.stringify({ name, ...(root !== undefined && { root }), wasHeld: quarantine })}\n`)
  else if (quarantine === undefined) out.write(`${cleanName(name)} was not in quarantine; workers may drive it.\n`)
  else out.write(`Workers may drive ${cleanName(name)} again. It was in quarantine: ${plainText(quarantine)}\n`)
  return 0
}

/** @throws UsageError */
function databaseOf(store: Store, verb: string): PostgresStore {
  if (isDatabase(store)) return store
  const what = `entia worlds ${verb} is for worlds in a database: --store postgres://….`
  throw new UsageError(`${what} A world in a folder is free once the program that has it open has ended.`)
}

function isDatabase(store: Store): store is PostgresStore {
  return 'hold' in store && 'release' in store
}

/** @throws UsageError, `no-such-world` */
async function rootNamed(store: Store, name: string): Promise<WorldInfo> {
  const root = (await store.list({ root: name })).find((world) => world.name === name && world.root === undefined)
  if (root !== undefined) return root
  const session = (await store.list()).find((world) => world.name === name)
  if (session?.root === undefined)
    throw new EntiaError('no-such-world', `There is no world '${name}' in this store. entia worlds list shows them.`, {
      world: name,
    })
  const what = `'${name}' is the world of a session of '${session.root}', and its parent waits for it.`
  throw new UsageError(`${what} Cancel the session through its parent, or kill ${session.root}.`)
}
