import type { Fleet } from '../../doors/postgres/index.ts'
import { exportedBy } from '../exported-by.ts'
import { UsageError } from '../parsed-words.ts'

const expected = "Write: export default defineFleet({ … }), with defineFleet of 'entia/postgres'"

/** The fleet that a file exports. @param hasDatabase the environment names a database. @throws UsageError */
export async function loadFleet(file: string, hasDatabase: boolean): Promise<Fleet> {
  const advice = hasDatabase ? '' : ' If it reads DATABASE_URL: that is not set; give --database postgres://….'
  const fleet = await exportedBy(file, advice)
  if (isFleet(fleet)) return fleet
  const got = fleet === undefined ? 'it has no default export' : `its default export is ${said(fleet)}`
  throw new UsageError(`${file} exports no fleet: ${got}. ${expected}.`)
}

function isFleet(value: unknown): value is Fleet {
  if (typeof value !== 'object' || value === null) return false
  const parts: Readonly<Record<string, unknown>> = { ...value, work: Reflect.get(value, 'work') }
  const database = parts['database']
  return typeof parts['work'] === 'function' && (typeof database === 'string' || Array.isArray(database))
}

function said(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value === null) return 'null'
  return typeof value === 'object' ? 'an object that is no fleet' : `a ${typeof value}`
}
