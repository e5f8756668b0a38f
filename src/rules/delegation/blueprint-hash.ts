import type { BlueprintData } from '../../../components/sessions/blueprint.ts'
import { canonical } from '../../world/canonical.ts'
import { sha256 } from '../../world/sha256.ts'

const known = new WeakMap<object, string>()

/**
 * SHA-256 by which equal blueprints are found. Their large parts, tools, skills and registries, are
 * those of the parent: each is read once, however many sessions are launched.
 */
export function blueprintHash(blueprint: Omit<BlueprintData, 'hash'>): string {
  const fields = Object.entries(blueprint)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sha256(fields.map(([name, value]) => `${name}:${textOf(value)}`).join('\n'))
}

/** Tells different values apart: a list by its items, an object by its hash. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`
  return typeof value === 'object' && value !== null ? objectHash(value) : JSON.stringify(value)
}

function objectHash(value: object): string {
  let hash = known.get(value)
  if (hash !== undefined) return hash
  const stored = canonical(value, () => 'A blueprint')
  hash = sha256(JSON.stringify(stored))
  // What the World may hold as it is can no longer change.
  if (stored === value) known.set(value, hash)
  return hash
}
