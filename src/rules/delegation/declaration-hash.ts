import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { canonical } from '../../world/canonical.ts'
import { fingerprint } from '../../world/random.ts'

const known = new WeakMap<object, number>()

/** A number of 31 bits by which equal declarations are found, in the World and on the Host. */
export function declarationHash(declaration: ToolDeclaration): number {
  let hash = known.get(declaration)
  if (hash !== undefined) return hash
  const stored = canonical(declaration, () => `The declaration of tool '${declaration.name}'`)
  hash = fingerprint(JSON.stringify(stored)) % 2 ** 31
  // What the World may hold as it is can no longer change.
  if (stored === declaration) known.set(declaration, hash)
  return hash
}
