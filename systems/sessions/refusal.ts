import type { EntiaErrorCode } from '../../src/world/entia-error.ts'

/** Why a request about sessions is not granted: for models as a text, for programs under a code. */
export interface Refusal {
  readonly code: EntiaErrorCode
  readonly message: string
  /** The argument that is wrong, for `invalid-argument`. */
  readonly field?: string
}

/** What a model reads of a refusal, behind `Error: `. */
export function refusalText(tool: string, { field, message }: Refusal): string {
  return field === undefined ? message : `Invalid arguments for '${tool}': ${field}: ${message}`
}
