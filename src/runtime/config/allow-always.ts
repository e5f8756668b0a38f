import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EntiaError } from '../../world/entia-error.ts'
import { readConfigText, withConfigValue } from './config-text.ts'
import { writePrivateFile } from './folders.ts'

/**
 * Writes into the user's configuration that a tool is not asked about any more. All else in the file stays as it is: comments,
 * order, indents and line ends. Gives the path of the file.
 *
 * @throws by its promise: `config-invalid` for a file that is no JSON with comments, which stays as it is; `store-failed`
 */
export async function allowAlways(tool: string, configFolder: string): Promise<string> {
  const path = join(configFolder, 'config.json')
  const text = await textOf(path)
  const json = text.startsWith('\ufeff') ? text.slice(1) : text
  const [problem] = json.trim() === '' ? [] : readConfigText(json).problems
  if (problem !== undefined) {
    const where = `${path}:${problem.line}:${problem.column}`
    const what = `expected ${problem.expected}, got ${problem.got}`
    throw new EntiaError('config-invalid', `${where}: ${what}. Mend it; nothing was written.`, { file: path })
  }
  const changed = withConfigValue(json, ['permissions', tool], 'allow')
  const mark = json === text ? '' : '\ufeff'
  await writePrivateFile(path, mark + (json === '' ? `${changed}\n` : changed))
  return path
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new EntiaError('config-invalid', `${path} cannot be read: ${(error as Error).message}`, { file: path })
  }
}
