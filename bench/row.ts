/** One figure. */
export interface Row {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** What the value may be at most; at least, with `atLeast`. Absent: the figure is for information. */
  readonly limit?: number
  /** More is better. @default false */
  readonly atLeast?: boolean
  /** What was measured side by side in the same run: the bare loop, or a smaller size. */
  readonly against?: string
}

/** Does a figure keep its limit? `undefined` if it has none. */
export function isWithin({ value, limit, atLeast = false }: Row): boolean | undefined {
  if (limit === undefined) return undefined
  return atLeast ? value >= limit : value <= limit
}

/** A number as people read it: three digits that count. */
export function readable(value: number): string {
  const digits = Math.abs(value) >= 100 || value === 0 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3
  return value.toLocaleString('en', { minimumFractionDigits: 0, maximumFractionDigits: digits })
}
