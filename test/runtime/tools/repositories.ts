import { execFileSync } from 'node:child_process'
import { tempFolder } from '../../tools/temp-folder.ts'

/** Runs git in a folder, and gives what it prints. */
export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

/** Makes a repository of what is in a folder, with one commit `first`. */
export function committed(folder: string): void {
  git(folder, 'init', '--quiet', '--initial-branch=main')
  git(folder, 'config', 'user.name', 'Ada')
  git(folder, 'config', 'user.email', 'ada@example.org')
  git(folder, 'add', '--force', '.')
  git(folder, 'commit', '--quiet', '--allow-empty', '--message=first')
}

/** A repository with one commit of these files. */
export async function repository(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await tempFolder(files)
  committed(folder)
  return folder
}
