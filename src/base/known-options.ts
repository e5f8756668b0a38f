import { EntiaError } from './entia-error.ts'
import { inspect } from './inspect.ts'

/** @throws `invalid-argument` for unknown names */
export function refuseUnknownOptions(where: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new EntiaError('invalid-argument', `${where}: options must be an object, got ${shortly(options)}.`)
  }
  const unknown = Object.keys(options).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const message = `${where}: unknown option ${unknown.join(', ')}. Known: ${known.join(', ')}.`
  throw new EntiaError('invalid-argument', message, { option: unknown[0] })
}

/** @throws `invalid-argument` unless absent or a list */
export function refuseNoList(where: string, option: string, given: unknown): void {
  if (given === undefined || Array.isArray(given)) return
  // A table has the things by name; one thing alone in place of the list has more than things in it.
  const isTable = typeof given === 'object' && given !== null && Object.values(given).every(isObject)
  const names = isTable ? Object.keys(given).slice(0, 3).join(', ') : '…'
  const advice = typeof given === 'function' ? `${nameOf(given) ?? option}()` : `[${names}]`
  const what = `${where}: ${option} must be a list, got ${shortly(given)}`
  throw new EntiaError('invalid-argument', `${what}. Write ${option}: ${advice}.`, { option })
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** @throws `invalid-argument` unless absent or an object */
export function refuseNoTable(where: string, option: string, given: unknown, example: string): void {
  if (given === undefined || (isObject(given) && !Array.isArray(given))) return
  const what = `${where}: ${option} must be an object, by name, got ${shortly(given)}`
  throw new EntiaError('invalid-argument', `${what}. Write ${option}: ${example}.`, { option })
}

/** A class may have a static field of that name. */
function nameOf({ name }: { readonly name: unknown }): string | undefined {
  return typeof name === 'string' && name !== '' ? name : undefined
}

/** For error messages. */
export function shortly(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'function') return `the function ${nameOf(value) ?? 'without a name'}`
  return typeof value === 'object' && value !== null ? 'an object' : inspect(value, { maxStringLength: 100 })
}
