import type { PostgresStore } from '../../doors/postgres/index.ts'
import type { Store } from '../../stores/port.ts'
import { cleanName, plainText } from '../../tools/files/clean-text.ts'
import { databaseColumn, type StoreAt } from '../fleet/fleet-store.ts'
import { UsageError } from '../parsed-words.ts'
import { findWorld } from './find-world.ts'
import { ownerText, type WorldsOutput } from './world-lines.ts'

/** `entia worlds kill`: returns the exit code. @throws UsageError, `no-such-world` */
export async function killWorld(
  stores: readonly StoreAt[],
  name: string,
  reason = 'It was killed by hand.',
  out: WorldsOutput,
): Promise<number> {
  const found = await findWorld(databasesOf(stores, 'kill'), { name }, out)
  const { heldBy, root } = found.info
  if (root !== undefined && root !== name) {
    const what = `'${name}' is the world of a session of '${root}', and its parent waits for it.`
    throw new UsageError(`${what} Cancel the session through its parent, or kill ${root}.`)
  }
  await found.store.hold(name, { reason, seize: true })
  const at = databaseColumn(stores, found)
  if (out.isJson) out.write(`${JSON.stringify({ ...at, name, quarantine: reason, ...(heldBy && { heldBy }) })}\n`)
  else {
    const from = heldBy === undefined ? 'No one drove it.' : `It was taken from ${ownerText(heldBy, out.nowMs)}.`
    const shown = cleanName(name)
    const of = at.database === undefined ? '' : ` in ${at.database}`
    out.write(
      `${shown}${of} is driven no more. ${from} Its letters wait; sessions that it has started run to their end.\n`,
    )
    out.write(`To let it go on: entia worlds release ${shown}\n`)
  }
  return 0
}

/** `entia worlds release`: returns the exit code. @throws UsageError, `no-such-world` */
export async function releaseWorld(
  stores: readonly StoreAt[],
  name: string,
  root: string | undefined,
  out: WorldsOutput,
): Promise<number> {
  const found = await findWorld(databasesOf(stores, 'release'), { name, root }, out)
  const { quarantine, root: under } = found.info
  await found.store.release(name, { root: under })
  const at = databaseColumn(stores, found)
  const of = under === undefined ? {} : { root: under }
  if (out.isJson) out.write(`${JSON.stringify({ ...at, name, ...of, wasHeld: quarantine })}\n`)
  else if (quarantine === undefined) out.write(`${cleanName(name)} was not in quarantine; workers may drive it.\n`)
  else out.write(`Workers may drive ${cleanName(name)} again. It was in quarantine: ${plainText(quarantine)}\n`)
  return 0
}

/** @throws UsageError */
function databasesOf(stores: readonly StoreAt[], verb: string): readonly StoreAt<PostgresStore>[] {
  if (stores.every(isInDatabase)) return stores
  const what = `entia worlds ${verb} is for worlds in a database: --database postgres://….`
  throw new UsageError(`${what} A world in a folder is free once the program that has it open has ended.`)
}

function isInDatabase(at: StoreAt): at is StoreAt<PostgresStore> {
  return isDatabase(at.store)
}

function isDatabase(store: Store): store is PostgresStore {
  return 'hold' in store && 'release' in store
}
