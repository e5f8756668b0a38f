/** Handles that a text names. */
export const handlePattern = /(?<![\w.])\.h_\d{3,16}\b/g

const named = /^\.?h_0*([1-9]\d{0,14})$/

/** A handle as a model reads it: `.h_001`, … `.h_999`, `.h_1000`. */
export function handleName(number: number): string {
  return `.h_${String(number).padStart(3, '0')}`
}

/** The number of a handle as a model writes it; `undefined` for what is no handle. */
export function handleNumber(name: string): number | undefined {
  const digits = named.exec(name.trim())?.[1]
  return digits === undefined ? undefined : Number(digits)
}
