import type { StandardInput } from '../../components/input.ts'
import { canonical } from '../world/canonical.ts'
import type { Input } from '../world/input.ts'
import type { Enter } from './inbox.ts'

/** Puts in what a Runner has learned of other worlds. False: it is committed only with the last tick of a Runner that stops. */
export async function entered(enter: Enter, input: StandardInput): Promise<boolean> {
  const committed = enter(canonical(input, () => 'an input') as Input)
  await committed
  return committed !== undefined
}
