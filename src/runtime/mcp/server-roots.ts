import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { inHome } from '../config/folders.ts'

/**
 * The roots that a client announces to a server, absolute: folders to work in. By default the working folder; none where an argument
 * of the server's program is a folder, since a server that gets roots ignores its arguments.
 */
export function serverRoots(
  target: { readonly args?: readonly string[] | undefined } | { readonly url: string },
  { cwd = process.cwd(), roots }: { readonly cwd?: string | undefined; readonly roots?: readonly string[] | undefined },
): readonly string[] {
  const from = resolve(cwd)
  if (roots !== undefined) return roots.map((folder) => resolve(from, inHome(folder)))
  const args = 'url' in target ? [] : (target.args ?? [])
  return args.some((arg) => isFolder(arg, from)) ? [] : [from]
}

/** Does an argument name a folder, alone or behind `--name=`? A word without a separator may be a command as well. */
function isFolder(arg: string, cwd: string): boolean {
  const path = arg.replace(/^--?[\w-]+=/, '')
  if (!/[\\/]/.test(path) && path !== '.' && path !== '..') return false
  try {
    return statSync(resolve(cwd, path)).isDirectory()
  } catch {
    // A program in an argument is no path of any file.
    return false
  }
}
