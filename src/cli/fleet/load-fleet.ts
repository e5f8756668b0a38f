import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Fleet } from '../../doors/postgres/index.ts'
import { thrownMessage } from '../../rules/text/thrown-message.ts'
import { UsageError } from '../parsed-words.ts'

const expected = "Write: export default defineFleet({ … }), with defineFleet of 'entia/postgres'"

/** The fleet that a file exports. @param hasDatabase the environment names a database. @throws UsageError */
export async function loadFleet(file: string, hasDatabase: boolean): Promise<Fleet> {
  const path = resolve(file)
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}.`)
  let module: { readonly default?: unknown }
  try {
    module = (await import(pathToFileURL(path).href)) as typeof module
  } catch (error) {
    const advice = hasDatabase ? '' : ' If it reads DATABASE_URL: that is not set; give --database postgres://….'
    throw new UsageError(`${file} cannot be loaded: ${thrownMessage(error).replace(/\.?$/, '.')}${advice}`)
  }
  const { default: fleet } = module
  if (isFleet(fleet)) return fleet
  const got = fleet === undefined ? 'it has no default export' : `its default export is ${said(fleet)}`
  throw new UsageError(`${file} exports no fleet: ${got}. ${expected}.`)
}

function isFleet(value: unknown): value is Fleet {
  if (typeof value !== 'object' || value === null) return false
  const parts: Readonly<Record<string, unknown>> = { ...value, work: Reflect.get(value, 'work') }
  return typeof parts['work'] === 'function' && typeof parts['database'] === 'string'
}

function said(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value === null) return 'null'
  return typeof value === 'object' ? 'an object that is no fleet' : `a ${typeof value}`
}
