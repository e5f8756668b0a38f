import type { PermissionsData } from '../../../components/agent/tool-registry.ts'

/** May an agent run a tool, given its permissions and its ceiling? */
export function isPermitted(
  name: string,
  { allowed, denied, granted }: PermissionsData = {},
  ceiling?: readonly string[],
): boolean {
  const isDenied = denied?.includes(name) === true && granted?.includes(name) !== true
  return !isDenied && allowed?.includes(name) !== false && ceiling?.includes(name) !== false
}

/** The names of both lists, each once. */
export function allNames(first: readonly string[] = [], second: readonly string[] = []): readonly string[] {
  return second.length === 0 ? first : [...new Set([...first, ...second])]
}

/** The permissions of a session's agent, plus what was denied above it. */
export function deniedBesides(
  permissions: PermissionsData | undefined,
  denied: readonly string[] | undefined,
): PermissionsData | undefined {
  if (denied === undefined || denied.length === 0) return permissions
  return { ...permissions, denied: allNames(permissions?.denied, denied) }
}
