import { readFile } from 'node:fs/promises'
import type { PageFiles } from './page-files.ts'

const names = ['index.html', 'page.js', 'page.css']

/** The page as the package brings it along. */
export async function files(): Promise<PageFiles> {
  const folder = new URL('inspector/', import.meta.url)
  const texts = names.map(async (name) => [name, await readFile(new URL(name, folder), 'utf8')] as const)
  return new Map(await Promise.all(texts))
}
