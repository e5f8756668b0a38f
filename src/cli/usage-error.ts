/** A command line that cannot be understood: the message says what is wrong with it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
