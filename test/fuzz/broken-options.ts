import fc from 'fast-check'

/** One thing that is wrong with values that a program passes: what is done, at which of all places, with which odd value. */
export interface Wrong {
  readonly kind: (typeof kinds)[number]
  readonly place: number
  readonly other: number
  readonly odd: number
}

const kinds = ['replace', 'replace', 'replace', 'remove', 'add', 'copy', 'cycle', 'getter', 'proxy'] as const
/** Names that an option may be added under. */
const names = ['extra', '__proto__', 'constructor', 'toString', 'then', 'length', 'name', 'kind', '', '0'] as const

/** What getters and proxies throw. The program's own error may pass through: it is told apart by identity. */
export const hostile = new Error('A getter of the program throws.')
const throws = (): never => {
  throw hostile
}

const cyclic = (): object => {
  const value: Record<string, unknown> = { x: 1 }
  return Object.assign(value, { self: value })
}
const deep = (): object => {
  let value: object = {}
  for (let depth = 0; depth < 5_000; depth++) value = { value }
  return value
}
const traps = ['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor', 'set', 'apply', 'construct']
const throwingProxy = (target: object): object =>
  new Proxy(target, Object.fromEntries(traps.map((trap) => [trap, throws])) as ProxyHandler<object>)

const numbers = [0, -0, 1, 2, -1, 1.5, NaN, Infinity, -Infinity, 1e300, 2 ** 31, 2 ** 53, Number.MIN_VALUE]
const texts = [
  '',
  ' ',
  'x',
  'a/b',
  '1',
  '__proto__',
  'constructor',
  '\ud800',
  '\u0000',
  '\r\n',
  '../x',
  'x'.repeat(100_000),
]

/** Values of each kind that a program without types can pass, made anew for each use. */
const odd: readonly (() => unknown)[] = [
  ...[undefined, null, true, false, ...numbers, ...texts].map((value) => () => value),
  () => 10n,
  () => Symbol('odd'),
  () => Symbol.iterator,
  () => [],
  () => [null],
  () => [undefined],
  () => [[]],
  () => Array(3),
  () => ['x', 'x'],
  () => [Symbol('odd'), 1n],
  () => ({}),
  () => ({ x: 1 }),
  () => ({ kind: 'x' }),
  () => ({ name: 'x' }),
  () => ({ toString: 1, valueOf: 1 }),
  () => ({ toJSON: throws }),
  () => ({ [Symbol('odd')]: 1 }),
  () => JSON.parse('{"__proto__":{"x":1}}') as unknown,
  () => Object.create(null) as unknown,
  () => Object.create({ name: 'inherited', folder: 'x' }) as unknown,
  () => new Date(NaN),
  () => new Map([['x', 1]]),
  () => new Set([1]),
  () => new Error('odd'),
  () => new Uint8Array(3),
  () => Object('x') as unknown,
  () => Promise.resolve(1),
  () => /x/,
  () => new URL('http://127.0.0.1/'),
  () => () => undefined,
  () => () => Symbol('odd'),
  () => async () => ({}),
  () => (value: unknown) => value,
  () => throws,
  cyclic,
  deep,
  () => throwingProxy({}),
  () => throwingProxy([]),
  () => throwingProxy(() => undefined),
  () => ({
    get name(): never {
      throw hostile
    },
  }),
]

/** One to three things that are wrong, mostly one: what is wrong first often hides the rest. */
export const wrongs: fc.Arbitrary<Wrong[]> = fc.oneof(
  { weight: 3, arbitrary: fc.array(wrong(), { minLength: 1, maxLength: 1 }) },
  { weight: 1, arbitrary: fc.array(wrong(), { minLength: 2, maxLength: 3 }) },
)

function wrong(): fc.Arbitrary<Wrong> {
  return fc.record({
    kind: fc.constantFrom(...kinds),
    place: fc.nat(2 ** 30),
    other: fc.nat(2 ** 30),
    odd: fc.nat(odd.length - 1),
  })
}

type Holder = Record<string, unknown>

/** These arguments, with things wrong in them. They are broken in place: make them anew for each case. */
export function brokenArguments(args: unknown[], wrong: readonly Wrong[]): unknown[] {
  for (const one of wrong) apply(args, one)
  return args
}

function apply(args: unknown[], { kind, place, other, odd: index }: Wrong): void {
  const places = placesIn(args)
  const at = places[place % places.length]
  const second = places[other % places.length]
  if (at === undefined || second === undefined) return
  const { holder, key } = at
  const here = valueAt(at)
  const value = (odd[index] as () => unknown)()
  const set = (descriptor: PropertyDescriptor, to = holder, under = key): void => {
    Object.defineProperty(to, under, { configurable: true, enumerable: true, ...descriptor })
  }
  if (kind === 'replace') return set({ value, writable: true })
  if (kind === 'remove') return void delete holder[key]
  if (kind === 'copy') return set({ value: valueAt(second), writable: true })
  if (kind === 'cycle') return set({ value: second.holder, writable: true })
  if (kind === 'getter') return Array.isArray(holder) ? undefined : set({ get: throws })
  if (kind === 'proxy') return isOpen(here) ? set({ value: throwingProxy(here), writable: true }) : undefined
  const name = other % 2 === 0 ? second.key : (names[other % names.length] as string)
  if (isOpen(here) && !Array.isArray(here)) set({ value, writable: true }, here as Holder, name)
}

/** So many objects are looked into for places. */
const maxHolders = 200

interface Place {
  readonly holder: Holder
  readonly key: string
}

/** Calls no getter. */
function valueAt({ holder, key }: Place): unknown {
  return Object.getOwnPropertyDescriptor(holder, key)?.value
}

function placesIn(args: unknown[]): Place[] {
  const places: Place[] = []
  const seen = new Set<object>([args])
  // A loop: one of the values nests too deep for calls.
  for (const open of seen) {
    const holder = open as Holder
    for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(holder))) {
      if (Array.isArray(holder) && key === 'length') continue
      places.push({ holder, key })
      if (isOpen(value) && seen.size < maxHolders) seen.add(value)
    }
  }
  return places
}

/** Plain data that can be broken in place: neither frozen nor an instance of a class, and no proxy that throws. */
function isOpen(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  try {
    const prototype: unknown = Object.getPrototypeOf(value)
    return (prototype === Object.prototype || Array.isArray(value)) && !Object.isFrozen(value)
  } catch {
    return false
  }
}
