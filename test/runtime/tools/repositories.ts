import { execFileSync } from 'node:child_process'
import { tempFolder } from '../../tools/temp-folder.ts'

/** Who commits, and nothing that costs time and is not asked for. */
const settings = ['protocol.file.allow=always', 'user.name=Ada', 'user.email=ada@example.org', 'maintenance.auto=false']

/** Runs git in a folder, and gives what it prints. */
export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', [...settings.flatMap((setting) => ['-c', setting]), ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

/** Makes a repository of what is in a folder, with one commit `first`. */
export function committed(folder: string): void {
  git(folder, 'init', '--quiet', '--initial-branch=main', '--template=')
  git(folder, 'add', '--force', '.')
  git(folder, 'commit', '--quiet', '--allow-empty', '--message=first')
}

/** A repository with one commit of these files. */
export async function repository(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await tempFolder(files)
  committed(folder)
  return folder
}
