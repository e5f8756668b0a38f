import type { PermissionsData } from '../../../components/agent/tool-registry.ts'

/** May an agent with these permissions, and below this ceiling if there is one, run the tool of that name? */
export function isPermitted(
  name: string,
  { allowed, denied, granted }: PermissionsData = {},
  ceiling?: readonly string[],
): boolean {
  const isDenied = denied?.includes(name) === true && granted?.includes(name) !== true
  return !isDenied && allowed?.includes(name) !== false && ceiling?.includes(name) !== false
}

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
