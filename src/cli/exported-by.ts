import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { thrownMessage } from '../base/thrown-message.ts'
import { UsageError } from './parsed-words.ts'

/** The default export of a file that somebody wrote. @param advice what else may be wrong. @throws UsageError */
export async function exportedBy(file: string, advice = ''): Promise<unknown> {
  const path = resolve(file)
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}.`)
  try {
    const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown }
    return module.default
  } catch (error) {
    const message = thrownMessage(error)
    const isRequired = message.includes('Cannot use import statement outside a module')
    const more = isRequired ? ' Write "type": "module" in its package.json, or end its name in .mts or .mjs.' : advice
    throw new UsageError(`${file} cannot be loaded: ${message.replace(/\.?$/, '.')}${more}`)
  }
}
