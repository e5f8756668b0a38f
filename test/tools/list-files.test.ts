import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileTools, type Json } from 'entia'
import { describe, expect, it } from 'vitest'
import { callText, callTool } from './calling.ts'
import { tempFolder } from './temp-folder.ts'

/** Lists a folder that holds empty files of these paths, or files of this content. */
async function list(
  files: readonly string[] | Readonly<Record<string, string>>,
  input: Record<string, Json> = {},
): Promise<string[]> {
  const content = Array.isArray(files) ? Object.fromEntries(files.map((path: string) => [path, ''])) : files
  const folder = await tempFolder(content as Record<string, string>)
  return (await callText(fileTools({ folder }).listFiles, input)).split('\n')
}

describe('list_files', () => {
  it('gives what is in a folder, sorted, with folders ending in /', async () => {
    expect(await list(['b.txt', 'a/deep.txt', 'B', 'a.txt', 'a-b/c'])).toEqual(['B', 'a-b/', 'a.txt', 'a/', 'b.txt'])
  })

  it('gives all below as well, in the order of whole paths', async () => {
    const found = await list(['a/z', 'a/b/c', 'a.txt', 'a-b/c'], { recursive: true })
    expect(found).toEqual(['a-b/', 'a-b/c', 'a.txt', 'a/', 'a/b/', 'a/b/c', 'a/z'])
    expect(found).toEqual(found.toSorted())
  })

  it('gives the paths of a folder below so that read_file takes them', async () => {
    expect(await list(['a/b/c.txt'], { path: 'a', recursive: true })).toEqual(['a/b/', 'a/b/c.txt'])
    expect(await list(['a/b/c.txt'], { path: 'a/b/' })).toEqual(['a/b/c.txt'])
  })

  it('gives hidden names only when asked, and never what is in .git', async () => {
    const files = ['.env', '.git/config', '.cache/x', 'a']
    expect(await list(files, { recursive: true })).toEqual(['a'])
    expect(await list(files, { recursive: true, hidden: true })).toEqual(['.cache/', '.cache/x', '.env', '.git/', 'a'])
  })

  it('says so of an empty folder', async () => {
    expect(await list([])).toEqual(['[no entries]'])
  })

  it('refuses files', async () => {
    expect(await list(['a.txt'], { path: 'a.txt' })).toEqual(['Error: a.txt is a file, not a folder.'])
  })

  it('gives as many as the limit says, and how many there are', async () => {
    const folder = await tempFolder(
      Object.fromEntries(Array.from({ length: 1_341 }, (_, index) => [`file ${index}`, ''])),
    )
    const found = async (input: Json): Promise<string[]> =>
      (await callText(fileTools({ folder }).listFiles, input)).split('\n')
    const first = await found({})
    expect(first).toHaveLength(201)
    expect(first.slice(0, 2)).toEqual(['file 0', 'file 1'])
    expect(first.at(-1)).toBe('[200 of 1341 shown]')
    expect((await found({ limit: 1_341 })).at(-1)).toBe('file 999')
    expect((await found({ limit: 1_340 })).at(-1)).toBe('[1340 of 1341 shown]')
  })

  it('gives no more than fit under the cap', async () => {
    const files = Array.from({ length: 400 }, (_, index) => `${index}`.padStart(200, 'x'))
    const found = await list(files, { limit: 5_000 })
    expect(found.join('\n').length).toBeLessThanOrEqual(50_000)
    expect(found.at(-1)).toBe(`[${found.length - 1} of 400 shown]`)
  })

  it('shows no line break and no terminal code of a name', async () => {
    expect(await list(['a\nb/', 'c\u001b[31md'].map((name) => name.replace('/', '')))).toEqual(['a?b', 'cd'])
  })

  it('tells how far it is, and stops on cancel', async () => {
    const folder = await tempFolder(Object.fromEntries(Array.from({ length: 5_001 }, (_, index) => [`${index}`, ''])))
    const reason = new Error('enough')
    const stop = new AbortController()
    const told: string[] = []
    const progress = (message: string): void => {
      told.push(message)
      stop.abort(reason)
    }
    await expect(callTool(fileTools({ folder }).listFiles, {}, { signal: stop.signal, progress })).rejects.toBe(reason)
    expect(told).toEqual(['5000 entries'])
  })
})

describe('a pattern of list_files', () => {
  const files = ['a.ts', 'b.TS', 'c.tsx', 'd.md', 'src/e.ts', 'src/deep/f.ts', 'src/[g]/h.js', '!i', '#j']

  it.each([
    ['*.ts', ['a.ts', 'src/deep/f.ts', 'src/e.ts']],
    ['/*.ts', ['a.ts']],
    ['./*.ts', ['a.ts']],
    ['src/*.ts', ['src/e.ts']],
    ['src/**/*.ts', ['src/deep/f.ts', 'src/e.ts']],
    ['**/deep/*', ['src/deep/f.ts']],
    ['*.{tsx,md}', ['c.tsx', 'd.md']],
    ['{src/{deep,x},y}/*.{ts,js}', ['src/deep/f.ts']],
    ['[ab].*', ['a.ts', 'b.TS']],
    ['?.md', ['d.md']],
    ['deep', ['src/deep/', 'src/deep/f.ts']],
    ['*/', ['src/', 'src/[g]/', 'src/[g]/h.js', 'src/deep/', 'src/deep/f.ts', 'src/e.ts']],
    ['!i', ['!i']],
    ['#j', ['#j']],
    ['src/\\[g\\]/*', ['src/[g]/h.js']],
    ['*.rs', ['[no entries]']],
  ])('%s fits what it says', async (pattern, found) => {
    expect(await list(files, { pattern, recursive: true })).toEqual(found)
  })

  it('counts from the folder that is listed', async () => {
    expect(await list(files, { path: 'src', pattern: 'deep/*.ts', recursive: true })).toEqual(['src/deep/f.ts'])
    expect(await list(files, { path: 'src', pattern: '/*.ts', recursive: true })).toEqual(['src/e.ts'])
  })

  it('that fits nothing here says that it did not look below', async () => {
    expect(await list(files, { pattern: 'f.ts' })).toEqual(['[no entries; recursive=true looks below]'])
  })

  it('whose braces stand for too much is refused', async () => {
    expect(await list(files, { pattern: '{a,b}'.repeat(20) })).toEqual([
      'Error: The braces of the pattern stand for more than 100 patterns.',
    ])
  })
})

describe('an ignore file', () => {
  it('leaves out what it names, at any depth', async () => {
    const files = {
      '.gitignore': '# built\nbuild/\n*.log\n!keep.log\n/only-here\n',
      'a.log': '',
      'keep.log': '',
      'build/x': '',
      'src/build/y': '',
      'src/b.log': '',
      'only-here': '',
      'src/only-here': '',
    }
    expect(await list(files, { recursive: true })).toEqual(['keep.log', 'src/', 'src/only-here'])
  })

  it('in a folder below holds there, and overrules those above', async () => {
    const files = {
      '.gitignore': '*.log\n',
      'a/.gitignore': '!b.log\n/c\n',
      'a/b.log': '',
      'a/c': '',
      'a/d/c': '',
      'a/d/b.log': '',
      c: '',
      'b.log': '',
    }
    expect(await list(files, { recursive: true })).toEqual(['a/', 'a/b.log', 'a/d/', 'a/d/b.log', 'a/d/c', 'c'])
  })

  it('above the listed folder holds, too', async () => {
    const files = {
      '.gitignore': '*.log\n/a/b/x\n',
      'a/.gitignore': 'y',
      'a/b/x': '',
      'a/b/y': '',
      'a/b/z': '',
      'a/b/z.log': '',
    }
    expect(await list(files, { path: 'a/b' })).toEqual(['a/b/z'])
  })

  it('does not hide what is in a folder that is asked for by name', async () => {
    const files = {
      '.gitignore': 'node_modules\n',
      'node_modules/p/index.js': '',
      'node_modules/.gitignore': '*.md',
      'node_modules/p/a.md': '',
    }
    expect(await list(files)).toEqual(['[no entries]'])
    expect(await list(files, { path: 'node_modules', recursive: true })).toEqual([
      'node_modules/p/',
      'node_modules/p/index.js',
    ])
  })

  it('tells upper from lower case', async () => {
    expect(await list({ '.gitignore': 'A', a: '' })).toEqual(['a'])
  })

  it('that is a folder is none', async () => {
    const folder = await tempFolder({ a: '' })
    await mkdir(join(folder, '.gitignore'))
    expect(await callText(fileTools({ folder }).listFiles, {})).toBe('a')
  })
})
