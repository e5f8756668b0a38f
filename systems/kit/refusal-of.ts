import { EntiaError } from '../../src/world/entia-error.ts'

/**
 * Why a write was refused; `undefined` if it was made. For what comes from models and tools: it is checked where it is
 * written, and if it is not what it has to be, that is a failure of theirs and not of the tick.
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
