import type { PermissionsData } from '../../../components/agent/tool-registry.ts'

/** The names of two lists, each once; absent where both are. */
export function allNames(first: readonly string[] = [], second: readonly string[] = []): readonly string[] {
  return second.length === 0 ? first : [...new Set([...first, ...second])]
}

/** The permissions of a session's agent: those it is made with, and what was denied above it. */
export function deniedBesides(
  permissions: PermissionsData | undefined,
  denied: readonly string[] | undefined,
): PermissionsData | undefined {
  if (denied === undefined || denied.length === 0) return permissions
  return { ...permissions, denied: allNames(permissions?.denied, denied) }
}
