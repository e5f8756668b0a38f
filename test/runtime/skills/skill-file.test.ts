import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listSkills } from 'entia/runtime'
import { validate } from 'skills-ref'
import { describe, expect, it } from 'vitest'
import { addFiles, tempFolder } from '../../tools/temp-folder.ts'

/** The problems of a skill `pdf` with this `SKILL.md`. */
async function problemsOf(text: string | undefined, folder = 'pdf'): Promise<readonly string[]> {
  const place = await tempFolder(
    text === undefined ? { [`${folder}/README.md`]: '' } : { [`${folder}/SKILL.md`]: text },
  )
  const [skill] = await listSkills(place)
  return skill?.problems ?? ['not listed']
}

const withMatter = (...lines: readonly string[]): string => `---\n${lines.join('\n')}\n---\n\nDo it.\n`
const name = 'name: pdf'
const description = 'description: Reads PDF files.'

/** What the reference of the format and Entia agree on. */
const valid: Readonly<Record<string, string>> = {
  'has a name and a description': withMatter(name, description),
  'has no body': `---\n${name}\n${description}\n---`,
  'has lines that end as on Windows': withMatter(name, description).replaceAll('\n', '\r\n'),
  'has all fields': withMatter(
    name,
    description,
    'license: MIT',
    'compatibility: Needs qpdf',
    'allowed-tools: Bash(git:*) Read',
    'metadata:',
    '  author: someone',
    '  version: 1.0',
  ),
  'has its tools as a list': withMatter(name, description, 'allowed-tools:', '  - Read', '  - Bash(jq:*)'),
  'has a folded description': withMatter(name, 'description: >', '  Reads PDF', '  files.'),
  'has a description of 1024 characters': withMatter(name, `description: ${'x'.repeat(1_024)}`),
  'has an alias in its metadata': withMatter(name, description, 'metadata:', '  a: &a x', '  b: *a'),
}

const invalid: Readonly<Record<string, readonly [text: string | undefined, problem: string]>> = {
  'has no SKILL.md': [undefined, 'There is no SKILL.md in it.'],
  'has no front matter': ['# PDF', 'SKILL.md must begin with front matter'],
  'has a front matter that does not end': [`---\n${name}\n${description}\n`, 'SKILL.md must begin with front matter'],
  'has a front matter that is no YAML': [withMatter(name, 'description: "x'), 'cannot be read as YAML: '],
  'has a colon in an unquoted text': [
    withMatter(name, 'description: Use it when: asked'),
    'cannot be read as YAML: Nested',
  ],
  'has a list as front matter': [withMatter('- a'), 'The front matter: expected object'],
  'has no name': [withMatter(description), 'name: expected string, received undefined.'],
  'has no description': [withMatter(name), 'description: expected string, received undefined.'],
  'has a blank description': [withMatter(name, 'description: "  "'), 'description: expected a text that is not empty.'],
  'has a description of 1025 characters': [
    withMatter(name, `description: ${'x'.repeat(1_025)}`),
    'description: expected at most 1024 characters.',
  ],
  'has another name than its folder': [
    withMatter('name: doc', description),
    "name: expected 'pdf', as its folder is named, got 'doc'.",
  ],
  'has a name in capitals': [withMatter('name: PDF', description), 'name: expected lower-case letters'],
  'has a name that begins with a hyphen': [withMatter('name: -pdf', description), 'name: expected lower-case letters'],
  'has a name with two hyphens': [withMatter('name: pdf--x', description), 'name: expected lower-case letters'],
  'has a name with a slash': [withMatter('name: ../pdf', description), 'name: expected lower-case letters'],
  'has a name of 65 characters': [
    withMatter(`name: ${'x'.repeat(65)}`, description),
    'name: expected at most 64 characters',
  ],
  'has a field of its own': [
    withMatter(name, description, 'version: 2'),
    'version: no such field is known; fields of your own go under metadata.',
  ],
  'has a compatibility of 501 characters': [
    withMatter(name, description, `compatibility: ${'x'.repeat(501)}`),
    'compatibility: expected at most 500 characters.',
  ],
}

describe('a skill by the format of Agent Skills', () => {
  it.each(Object.entries(valid))('is valid, as the reference says, when it %s', async (_, text) => {
    const place = await tempFolder({ 'pdf/SKILL.md': text })
    expect(await validate(join(place, 'pdf'))).toEqual([])
    expect(await problemsOf(text)).toEqual([])
  })

  it.each(Object.entries(invalid))('is invalid, as the reference says, when it %s', async (_, [text, problem]) => {
    const place = await tempFolder({ 'pdf/README.md': '', ...(text !== undefined && { 'pdf/SKILL.md': text }) })
    expect(await validate(join(place, 'pdf'))).not.toEqual([])
    expect((await problemsOf(text)).join('\n')).toContain(problem)
  })

  it('is held to what the format says where its reference does not check it', async () => {
    const cases: Readonly<Record<string, string>> = {
      [withMatter(name, 'description:')]: 'description: expected a text that is not empty.',
      [withMatter(name, description, 'metadata:', '  a:', '    b: c')]: 'metadata.a: expected string, received object.',
      [withMatter(name, description, 'allowed-tools: { a: b }')]: 'allowed-tools: expected a text or a list of texts.',
      [withMatter(name, description, 'license: [MIT]')]: 'license: expected string, received array.',
    }
    for (const [text, problem] of Object.entries(cases)) {
      expect(await validate(join(await tempFolder({ 'pdf/SKILL.md': text }), 'pdf'))).toEqual([])
      expect(await problemsOf(text)).toEqual([problem])
    }
    expect(await problemsOf(withMatter('name: größe', description), 'größe')).toEqual([
      expect.stringContaining('name: expected lower-case letters a-z'),
    ])
  })
})

describe('front matter that means harm', () => {
  it('makes no object of a tag, and runs nothing', async () => {
    const text = withMatter(name, 'description: !!js/function "function () { globalThis.wasRun = true }"')
    expect(await problemsOf(text)).toEqual([])
    expect(globalThis).not.toHaveProperty('wasRun')
    const [skill] = await listSkills(
      await tempFolder({ 'pdf/SKILL.md': withMatter(name, 'description: !!binary aGVsbG8=') }),
    )
    expect(skill).toMatchObject({ description: 'aGVsbG8=', valid: true })
    expect(await problemsOf(withMatter(name, description, '__proto__:', '  polluted: true'))).toHaveLength(1)
    expect({}).not.toHaveProperty('polluted')
  })

  const ninefold = (of: string): string => `[${Array.from({ length: 9 }, () => of).join(', ')}]`
  const bomb = [
    `a0: &a0 ${ninefold('x')}`,
    ...Array.from({ length: 30 }, (_, index) => `a${index + 1}: &a${index + 1} ${ninefold(`*a${index}`)}`),
  ]
  const floods: Readonly<Record<string, string>> = {
    'aliases of aliases': withMatter(name, description, ...bomb),
    'brackets within each other': withMatter(name, `description: ${'['.repeat(16_000)}`),
    'thousands of keys': withMatter(name, description, ...Array.from({ length: 2_500 }, (_, index) => `k${index}:`)),
    'a long front matter': withMatter(name, description, `license: ${'x'.repeat(900_000)}`),
    'a front matter that never ends': `---\n${'x\n---x'.repeat(150_000)}`,
  }
  it.each(Object.entries(floods))('of %s is refused, and read in linear time', async (_, text) => {
    expect(await problemsOf(text)).not.toEqual([])
  })

  it('of a hundred megabytes is not read', async () => {
    const place = await tempFolder({ 'pdf/SKILL.md': withMatter(name, description) })
    await truncate(join(place, 'pdf/SKILL.md'), 100_000_000)
    expect((await listSkills(place))[0]?.problems).toEqual(['SKILL.md must have at most 1000000 bytes, got 100000000.'])
  })

  it('is no text, a folder, or a link that leads out', async () => {
    const place = await tempFolder({ 'binary/SKILL.md': 'a\0b', 'other.md': withMatter('name: link', description) })
    await mkdir(join(place, 'folder/SKILL.md'), { recursive: true })
    await addFiles(place, { 'link/README.md': '', 'inner/docs/skill.md': withMatter('name: inner', description) })
    await symlink(join(place, 'other.md'), join(place, 'link/SKILL.md'))
    await symlink('docs/skill.md', join(place, 'inner/SKILL.md'))
    await writeFile(join(place, 'no-folder'), '')
    expect((await listSkills(place)).map(({ name: folder, problems }) => [folder, ...problems])).toEqual([
      ['binary', 'SKILL.md must be a text file.'],
      ['folder', 'SKILL.md must be a file.'],
      ['inner'],
      ['link', 'SKILL.md must not be a link that leads out of its folder.'],
    ])
  })
})
