import { EntiaError } from './entia-error.ts'
import { refuseUnknownOptions, shortly } from './known-options.ts'

export interface Shape {
  readonly wanted: string
  readonly fits: (value: unknown) => boolean
}

export type ShapesOf<Options> = { readonly [Name in keyof Required<Options>]: Shape }

/** An `undefined` option counts as absent. @throws `invalid-argument` */
export function checkOptions<Options>(where: string, options: Options, shapes: ShapesOf<Options>): void {
  refuseUnknownOptions(where, options, Object.keys(shapes))
  refuseMisfits(where, options, shapes)
}

/** Other names are not checked. @throws `invalid-argument` */
export function refuseMisfits<Options>(where: string, options: Options, shapes: Partial<ShapesOf<Options>>): void {
  for (const name of Object.keys(shapes) as (keyof Options & string)[]) {
    const value = options[name]
    if (value !== undefined) refuseMisfit(where, name, value, shapes[name] as Shape)
  }
}

/** @throws `invalid-argument` */
export function refuseMisfit(where: string, name: string, value: unknown, { wanted, fits }: Shape): void {
  if (fits(value)) return
  throw new EntiaError('invalid-argument', `${where}: ${name} must be ${wanted}, got ${shortly(value)}.`, {
    option: name,
  })
}

export const text: Shape = { wanted: 'a text', fits: (value) => typeof value === 'string' }
export const filledText: Shape = {
  wanted: 'a text that is not empty',
  fits: (value) => typeof value === 'string' && value.trim() !== '',
}
/** Names stand in lists, prompts, logs and errors, each on its line. */
export const givenName: Shape = {
  wanted: 'a text that is not empty, on one line',
  fits: (value) => filledText.fits(value) && isOneLine(value as string),
}
/** Empty counts as absent, as in environment variables. */
export const address: Shape = {
  wanted: 'a URL such as http://localhost:8000/v1',
  fits: (value) => typeof value === 'string' && (value === '' || URL.canParse(value)),
}
export const flag: Shape = { wanted: 'true or false', fits: (value) => typeof value === 'boolean' }
export const callback: Shape = { wanted: 'a function', fits: (value) => typeof value === 'function' }
export const finite: Shape = { wanted: 'a number', fits: Number.isFinite }
export const count: Shape = {
  wanted: 'an integer ≥ 1',
  fits: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
}
export const countFromZero: Shape = {
  wanted: 'an integer ≥ 0',
  fits: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
}
export const table: Shape = { wanted: 'an object', fits: isRecord }
/** Environment variables by name: a plain object, or that of a process. */
export const environment: Shape = {
  wanted: 'an object of texts',
  fits: (value) => isRecord(value) && Object.values(value).every((one) => one === undefined || typeof one === 'string'),
}

export function isOneLine(given: string): boolean {
  return !/[\n\v\f\r\x85\u2028\u2029]/.test(given)
}

export function tableOf(values: Shape): Shape {
  return {
    wanted: `an object whose values are each ${values.wanted}`,
    fits: (value) => isRecord(value) && Object.values(value).every((item) => values.fits(item)),
  }
}

export function listOf(items: Shape): Shape {
  return {
    wanted: `a list whose items are each ${items.wanted}`,
    fits: (value) => Array.isArray(value) && Array.from(value, (item) => items.fits(item)).every(Boolean),
  }
}

export function oneOf(...names: readonly string[]): Shape {
  return { wanted: names.map((name) => `'${name}'`).join(' or '), fits: (value) => names.includes(value as string) }
}

export function objectWith(wanted: string, ...methods: readonly string[]): Shape {
  return { wanted, fits: (value) => isObject(value) && methods.every((name) => typeof value[name] === 'function') }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !Array.isArray(value)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
