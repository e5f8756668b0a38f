import fc from 'fast-check'

/** JSON as it is read, to be broken in place. */
export type Parsed = null | boolean | number | string | Parsed[] | { [key: string]: Parsed }

/** One thing that is wrong: what is done, at which of all places, with which other. */
export interface Break {
  readonly kind: (typeof kinds)[number]
  readonly place: number
  readonly other: number
  /** Which of the odd values. */
  readonly odd: number
}

const kinds = ['replace', 'remove', 'double', 'swap', 'add', 'copy'] as const

/** Stands for a text that `JSON.stringify` cannot write. */
const rawMark = '\u0001raw '
const raw = (text: string): string => `${rawMark}${text}`
const nested = (open: string, close: string, depth: number): string =>
  raw(`${open.repeat(depth)}0${close.repeat(depth)}`)

const numbers = [0, 1, 2, 3, 5, 8, 13, -1, 1.5, 1e300, -1e300, 2 ** 31, 2 ** 32, 2 ** 53, Number.MIN_VALUE]
const texts = [
  '',
  'x',
  '1',
  '-1',
  'none',
  '__proto__',
  'constructor',
  'toString',
  '\ud800',
  '\u0000',
  'x'.repeat(2_000),
]
const rawTexts = [raw('1e999'), raw('-1e999'), raw('-0'), raw('1E400'), raw('123456789012345678901234567890')]
const deep = [
  nested('[', ']', 300),
  nested('[', ']', 100_000),
  nested('{"x":', '}', 300),
  nested('{"x":', '}', 100_000),
]
const structured: Parsed[] = [[], {}, [[]], [null], [[1, null]], { x: 1 }, { kind: 'x' }, [0, [1]], { $in: [0] }]
const odd: Parsed[] = [null, true, false, ...numbers, ...texts, ...rawTexts, ...deep, ...structured]

/** One to four things that are wrong. */
export const breaks: fc.Arbitrary<Break[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    place: fc.nat(2 ** 30),
    other: fc.nat(2 ** 30),
    odd: fc.nat(odd.length - 1),
  }),
  { minLength: 1, maxLength: 4 },
)

/** A copy of JSON with these things wrong in it. */
export function broken(json: Parsed, wrong: readonly Break[]): Parsed {
  // A holder around it, so that it can itself be replaced.
  const root = { json: structuredClone(json) }
  for (const one of wrong) apply(root, one)
  return root.json ?? null
}

/** The text of broken JSON. */
export function jsonText(json: Parsed): string {
  const escaped = JSON.stringify(rawMark).slice(1, -1)
  const pattern = new RegExp(`"${escaped.replaceAll('\\', '\\\\')}((?:[^"\\\\]|\\\\.)*)"`, 'g')
  return JSON.stringify(json).replace(pattern, (_, text: string) => JSON.parse(`"${text}"`) as string)
}

type Holder = Parsed[] | { [key: string]: Parsed }
interface Place {
  readonly holder: Holder
  readonly key: string
}

function apply(root: { json: Parsed }, { kind, place, other, odd: index }: Break): void {
  const places: Place[] = []
  collect(root, places)
  if (places.length === 0) return
  const { holder, key } = places[place % places.length] as Place
  const second = places[other % places.length] as Place
  const here = holder[key as never] as Parsed
  const value = structuredClone(odd[index] as Parsed)
  switch (kind) {
    case 'replace':
      return put({ holder, key }, value)
    case 'remove':
      if (Array.isArray(holder)) holder.splice(Number(key), 1)
      else delete holder[key]
      return
    case 'double':
      if (Array.isArray(holder)) holder.splice(Number(key), 0, structuredClone(here))
      else put({ holder, key: `${key}2` }, structuredClone(here))
      return
    case 'swap': {
      // Mostly neighbours of one list, such as lines.
      const to = Array.isArray(holder) ? { holder, key: String(other % holder.length) } : { holder, key: second.key }
      const there = holder[to.key as never] as Parsed | undefined
      if (there === undefined) return
      put({ holder, key }, there)
      return put(to, here)
    }
    case 'add':
      if (Array.isArray(here)) here.push(value)
      else if (typeof here === 'object' && here !== null) put({ holder: here, key: second.key }, value)
      return
    case 'copy':
      return put({ holder, key }, structuredClone(second.holder[second.key as never]))
  }
}

function put({ holder, key }: Place, value: Parsed): void {
  Object.defineProperty(holder, key, { value, configurable: true, enumerable: true, writable: true })
}

function collect(holder: Holder, places: Place[]): void {
  for (const key of Object.keys(holder)) {
    places.push({ holder, key })
    const item = holder[key as never] as Parsed
    if (typeof item === 'object' && item !== null) collect(item, places)
  }
}
