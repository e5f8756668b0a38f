import { EntiaError } from '../world/entia-error.ts'

/** What a function has given, if it is no promise. @throws `invalid-argument` */
export function synchronous<T>(result: T): T {
  if (!(result instanceof Promise)) return result
  result.catch(() => undefined)
  const what = 'runner.change: the function has to be synchronous, it gave a promise.'
  throw new EntiaError('invalid-argument', what)
}
