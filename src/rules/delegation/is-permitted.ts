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
