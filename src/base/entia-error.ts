/** Why a call was refused. Closed: programs may switch over it. */
export type EntiaErrorCode =
  | 'address-in-use'
  | 'ambiguous-id'
  | 'budget-spent'
  | 'cap-conflict'
  | 'config-invalid'
  | 'conflicting-provider'
  | 'corrupt-journal'
  | 'corrupt-snapshot'
  | 'duplicate-component'
  | 'empty-prompt'
  | 'encrypted-room'
  | 'illegal-transition'
  | 'in-tick'
  | 'invalid-argument'
  | 'invalid-history'
  | 'invalid-input'
  | 'invalid-skill'
  | 'invalid-value'
  | 'law-broken'
  | 'limit-reached'
  | 'matrix-failed'
  | 'matrix-not-configured'
  | 'missing-api-key'
  | 'missing-component'
  | 'missing-handler'
  | 'missing-peer'
  | 'missing-skill'
  | 'newer-version'
  | 'no-such-world'
  | 'not-json'
  | 'not-queryable'
  | 'nothing-pending'
  | 'replay-mismatch'
  | 'session-busy'
  | 'session-closed'
  | 'session-failed'
  | 'session-in-use'
  | 'skill-exists'
  | 'skill-fetch-failed'
  | 'skill-not-found'
  | 'store-closed'
  | 'store-failed'
  | 'system-failed'
  | 'tool-changed'
  | 'tool-conflict'
  | 'turn-failed'
  | 'turn-in-progress'
  | 'unknown-component'
  | 'unknown-entity'
  | 'unknown-provider'
  | 'unknown-session'
  | 'world-driven'
  | 'world-exists'
  | 'world-fenced'
  | 'world-locked'

/** Misuse of the API, or an unusable file. Failures of a run are `Failure` data. */
export class EntiaError extends Error {
  override readonly name = 'EntiaError'
  readonly code: EntiaErrorCode
  /** For programs: entity, component, system, path … */
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    code: EntiaErrorCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.code = code
    this.details = details
  }
}
