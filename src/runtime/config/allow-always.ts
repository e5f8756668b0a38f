import { thrownMessage } from '../../base/thrown-message.ts'
import { unlessMissing } from '../../base/unless-missing.ts'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AllowedCalls, ToolPermission } from '../../protocol/policy.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { readConfigFile, refuseProblems } from './config-file.ts'
import { withConfigValue } from './config-text.ts'
import { writePrivateFile } from './folders.ts'

/**
 * Writes a rule into the user's configuration: such calls of a tool are not asked about any more. What it says of the tool's other
 * calls still holds, and all else in the file stays as it is: comments, order, indents and line ends. Gives the path of the file.
 *
 * @throws by its promise: `config-invalid` for a file that cannot be used, or that denies the tool, and stays as it is; `store-failed`
 */
export async function allowAlways(tool: string, calls: AllowedCalls, configFolder: string): Promise<string> {
  const path = join(configFolder, 'config.json')
  const text = await textOf(path)
  const json = text.startsWith('\ufeff') ? text.slice(1) : text
  const changed = withRule(json, await permissionIn(path, json, tool), tool, calls)
  if (changed === json) return path
  const mark = json === text ? '' : '\ufeff'
  await writePrivateFile(path, mark + (json === '' ? `${changed}\n` : changed))
  return path
}

function withRule(json: string, before: ToolPermission | undefined, tool: string, calls: AllowedCalls): string {
  const place = ['permissions', tool]
  if (before === 'allow') return json
  if (typeof before !== 'object') {
    return withConfigValue(json, place, { ...(before !== undefined && { otherwise: before }), allow: [calls] })
  }
  if (before.allow.some((rule) => isSame(rule, calls))) return json
  return withConfigValue(json, [...place, 'allow', before.allow.length], calls)
}

function isSame(one: AllowedCalls, other: AllowedCalls): boolean {
  return one.command === other.command && one.folder === other.folder && placesOf(one) === placesOf(other)
}

function placesOf({ places = ['project'] }: AllowedCalls): string {
  return places.toSorted().join()
}

/** What the file says of the tool. */
async function permissionIn(path: string, json: string, tool: string): Promise<ToolPermission | undefined> {
  const file = json.trim() === '' ? undefined : await readConfigFile(path)
  if (file === undefined) return undefined
  refuseProblems([file])
  const { permissions = {} } = file.layer
  const before = Object.hasOwn(permissions, tool) ? permissions[tool] : undefined
  if (before !== 'deny') return before
  throw new EntiaError('config-invalid', `${path} denies ${tool}: a rule in it would not count.`, { file: path })
}

async function textOf(path: string): Promise<string> {
  try {
    return (await unlessMissing(readFile(path, 'utf8'))) ?? ''
  } catch (error) {
    throw new EntiaError('config-invalid', `${path} cannot be read: ${thrownMessage(error)}`, { file: path })
  }
}
