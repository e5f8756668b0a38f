import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const pages = ['README.md', ...filesIn('docs', '.md')]
const examples = filesIn('examples', '.ts').map((path) => ({ path, code: plain(read(path)) }))

describe('the documentation', () => {
  const blocks = pages.flatMap(blocksOf).filter(({ info }) => info === 'ts')

  it('has code to check', () => {
    expect(blocks.length).toBeGreaterThan(3)
  })

  it.for(blocks)('shows at $place an excerpt of an example', ({ code }) => {
    expect(examples.filter((example) => isExcerpt(code, example.code)).map(({ path }) => path)).not.toEqual([])
  })

  it.for(blocks)('imports at $place by the public doors alone', ({ code }) => {
    expect(code).not.toMatch(/from '\.|\/src\//)
  })
})

describe('a link', () => {
  let packed: ReadonlySet<string>
  beforeAll(async () => {
    const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
      cwd: root,
      maxBuffer: 2 ** 26,
    })
    const [list] = JSON.parse(stdout) as readonly { readonly files: readonly { readonly path: string }[] }[]
    const files = (list?.files ?? []).map(({ path }) => path)
    packed = new Set(files.flatMap((path) => [path, ...foldersOf(path)]))
    // npm takes its time where many processes run.
  }, 60_000)

  it.for(pages)('in %s leads to a file of the project and of the package', (page) => {
    const dead = linksOf(page).filter(({ path }) => !exists(path) || !packed.has(path))
    expect(dead).toEqual([])
  })

  it.for(pages)('in %s with an anchor leads to a heading', (page) => {
    const dead = linksOf(page).filter(({ path, anchor }) => {
      return anchor !== '' && !(path.endsWith('.md') && exists(path) && anchorsOf(path).has(anchor))
    })
    expect(dead).toEqual([])
  })
})

describe('the index', () => {
  it('names every page of docs', () => {
    const listed = new Set(linksOf('docs/README.md').map(({ path }) => path))
    const missing = filesIn('docs', '.md').filter((page) => posix.dirname(page) === 'docs' && !listed.has(page))
    expect(missing).toEqual(['docs/README.md'])
  })

  it('and the pages together name every example', () => {
    const linked = new Set(pages.flatMap((page) => linksOf(page).map(({ path }) => path)))
    const programs = examples.filter(({ path }) => posix.dirname(path) === 'examples').map(({ path }) => path)
    expect(programs.filter((path) => !linked.has(path))).toEqual([])
  })
})

/** Paths from the root, in order. */
function filesIn(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .toSorted()
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function exists(path: string): boolean {
  return statSync(join(root, path), { throwIfNoEntry: false }) !== undefined
}

function foldersOf(path: string): string[] {
  const folder = dirname(path)
  return folder === '.' ? [] : [folder, ...foldersOf(folder)]
}

/** Fenced blocks. `ts` is checked here, `ts run` by scripts/check-readme.ts, and `ts signature` shows a declaration. */
function blocksOf(page: string) {
  const text = read(page)
  return [...text.matchAll(/^ *```([^\n]*)\n(.*?)^ *```$/gms)].map(({ 1: info, 2: code = '', index }) => ({
    info,
    code,
    place: `${page}:${text.slice(0, index).split('\n').length}`,
  }))
}

/** Whitespace aside. */
function plain(code: string): string {
  return code.replaceAll(/\s+/g, ' ').trim()
}

/** `…` stands for what the excerpt leaves out. */
function isExcerpt(code: string, example: string): boolean {
  if (example.includes(plain(code))) return true
  let from = 0
  for (const part of code.split('…').map(plain)) {
    const at = example.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return true
}

/** Relative links, with the path from the root that each leads to. */
function linksOf(page: string) {
  const text = read(page)
    .replaceAll(/^ *```.*?^ *```$/gms, '')
    .replaceAll(/`[^`\n]*`/g, '`')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#')
      const path = file === '' ? page : posix.normalize(posix.join(posix.dirname(page), file))
      return { target, path: path.replace(/\/$/, ''), anchor }
    })
}

/** As GitHub makes them of headings. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, heading = ''] of read(page)
    .replaceAll(/^ *```.*?^ *```$/gms, '')
    .matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`)
  }
  return anchors
}
