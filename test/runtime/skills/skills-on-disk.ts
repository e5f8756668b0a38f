import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { tempFolder } from '../../tools/temp-folder.ts'

/** The text of a `SKILL.md`. */
export function skillText(name: string, { description = `Does ${name}.`, body = `How to do ${name}.` } = {}): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`
}

/** A home folder with Entia's folders in it, and a project `app`. */
export async function homeWith(files: Readonly<Record<string, string>> = {}) {
  const folder = await tempFolder({ 'app/README.md': 'A project.', ...files })
  const env = {
    HOME: folder,
    PATH: process.env['PATH'],
    ENTIA_CONFIG_DIR: join(folder, 'config'),
    ENTIA_DATA_DIR: join(folder, 'data'),
  }
  return { folder, env, cwd: join(folder, 'app'), skills: join(folder, 'data/skills') }
}

/** Runs git in a folder, without any configuration. */
export async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
  const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.org', '-c', 'init.defaultBranch=main']
  return (await promisify(execFile)('git', [...who, '-C', folder, ...args], { env })).stdout
}

/** A git repository with these files in its one commit. */
export async function repositoryWith(files: Readonly<Record<string, string>>) {
  const folder = await tempFolder(files)
  await git(folder, 'init', '--quiet')
  await git(folder, 'add', '--all')
  await git(folder, 'commit', '--quiet', '--message', 'The skill')
  return { folder, url: pathToFileURL(folder).href }
}
