import { EntiaError } from '../../src/world/entia-error.ts'

/**
 * Why a write was refused; `undefined` if it was made. Values from models and tools are checked where they are written:
 * an invalid one is their failure, not the tick's.
 */
export function refusalOf(write: () => void): string | undefined {
  try {
    write()
    return undefined
  } catch (error) {
    if (error instanceof EntiaError && (error.code === 'invalid-value' || error.code === 'not-json'))
      return error.message
    throw error
  }
}
