import { isMissing } from '../../base/unless-missing.ts'
import { basename, join } from 'node:path'
import { realpath } from 'node:fs/promises'
import { z } from 'zod'
import { cleanName } from '../../tools/files/clean-text.ts'
import { openInside } from '../../tools/files/confined-folder.ts'
import { isFileSystemError, Refusal } from '../../tools/files/refusal.ts'
import { schemaIssues } from '../../rules/text/schema-issues.ts'
import { cutText } from '../../base/cut-text.ts'
import { lazily } from '../../base/lazily.ts'

/** What `SKILL.md` says of its skill. */
export interface SkillMatter {
  readonly name: string
  readonly description: string
  readonly license?: string | undefined
  readonly compatibility?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Tools that its author wants to use. Grants nothing. */
  readonly allowedTools?: readonly string[] | undefined
}

/** A skill's `SKILL.md`. */
export interface SkillFile {
  /** Absent: it has problems. */
  readonly matter?: SkillMatter
  /** The instructions, without the front matter; empty if it could not be read. */
  readonly body: string
  /** What is wrong with it, a sentence each; empty: nothing. */
  readonly problems: readonly string[]
}

/** The file that makes a folder a skill. */
const skillFileName = 'SKILL.md'

const maxSkillFileBytes = 1_000_000
/** A YAML reader compares each key with all others. */
const maxMatterChars = 16_384
const maxProblemChars = 300

/** Names of folders, in which nothing leads elsewhere. */
export const skillName = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

const matterSchema = lazily(() =>
  z.strictObject({
    name: z
      .string()
      .min(1)
      .max(64, 'expected at most 64 characters')
      .regex(skillName, 'expected lower-case letters a-z, digits and single hyphens between them'),
    description: z
      .string()
      .max(1_024, 'expected at most 1024 characters')
      .refine((text) => text.trim() !== '', 'expected a text that is not empty'),
    license: z.string().optional(),
    compatibility: z.string().min(1).max(500, 'expected at most 500 characters').optional(),
    metadata: z.record(z.string(), z.string()).optional(),
    'allowed-tools': z.custom<string | string[]>(isToolList, 'expected a text or a list of texts').optional(),
  }),
)

function isToolList(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'))
}

/**
 * Reads the `SKILL.md` of a folder by the Agent Skills format. What is wrong comes as problems, never as an error; links that
 * lead out of the folder are not followed.
 *
 * @param folder absolute
 * @param name the name that the skill must have; `false`: any. @default that of the folder
 */
export async function readSkillFile(folder: string, name: string | false = basename(folder)): Promise<SkillFile> {
  const text = await textOf(folder)
  if (typeof text !== 'string') return { body: '', problems: [text.problem] }
  const [matterText, body] = parted(text)
  if (matterText === undefined) {
    const what = `${skillFileName} must begin with front matter: a line ---, then name: and description:, then a line ---.`
    return { body: text, problems: [what] }
  }
  if (matterText.length > maxMatterChars) {
    const what = `The front matter of ${skillFileName} must have at most ${maxMatterChars} characters, got ${matterText.length}.`
    return { body, problems: [what] }
  }
  const { value, problem } = await parsed(matterText)
  if (problem !== undefined) return { body, problems: [problem] }
  return { body, ...judged(value, name) }
}

/** The front matter, and what follows it. */
function parted(text: string): readonly [string | undefined, string] {
  const [whole, matter = ''] =
    /^---[ \t]*(?:\r?\n|\r)(?:([\s\S]*?)(?:\r?\n|\r))??---[ \t]*(?:\r?\n|\r|$)/.exec(text) ?? []
  return whole === undefined ? [undefined, text] : [matter, text.slice(whole.length).trim()]
}

/** All scalars are read as texts, so that no tag makes an object. */
async function parsed(text: string): Promise<{ readonly value?: unknown; readonly problem?: string }> {
  const { matter } = await import('vfile-matter')
  const file = { value: '', data: {} as { matter?: unknown }, toString: () => `---\n${text}\n---\n` }
  try {
    const yaml = { schema: 'failsafe', resolveKnownTags: false, logLevel: 'error' } as const
    matter(file as Parameters<typeof matter>[0], { yaml })
    return { value: file.data.matter }
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)
    return {
      problem: `The front matter of ${skillFileName} cannot be read as YAML: ${cutText(cleanName(why), maxProblemChars, '…')}`,
    }
  }
}

function judged(value: unknown, name: string | false): Pick<SkillFile, 'matter' | 'problems'> {
  const checked = matterSchema().safeParse(value)
  if (!checked.success) {
    const issues = schemaIssues(checked.error).split('; ')
    return { problems: issues.map(inWords) }
  }
  const { 'allowed-tools': tools, description, ...rest } = checked.data
  if (name !== false && rest.name !== name) {
    return { problems: [`name: expected '${name}', as its folder is named, got '${rest.name}'.`] }
  }
  const allowedTools = typeof tools === 'string' ? tools.split(/\s+/).filter((tool) => tool !== '') : tools
  return { matter: { ...rest, description: description.trim(), allowedTools }, problems: [] }
}

function inWords(issue: string): string {
  const advice = issue.endsWith(': no such field is known') ? '; fields of your own go under metadata' : ''
  const where = issue.startsWith('expected ') ? 'The front matter: ' : ''
  return `${where}${cutText(cleanName(issue), maxProblemChars, '…')}${advice}.`
}

async function textOf(folder: string): Promise<string | { readonly problem: string }> {
  try {
    const root = await realpath(folder)
    const { handle } = await openInside(root, await realpath(join(root, skillFileName)))
    try {
      const stats = await handle.stat()
      if (!stats.isFile()) return { problem: `${skillFileName} must be a file.` }
      const tooLarge = `${skillFileName} must have at most ${maxSkillFileBytes} bytes, got`
      if (stats.size > maxSkillFileBytes) return { problem: `${tooLarge} ${stats.size}.` }
      const buffer = Buffer.alloc(stats.size + 1)
      let sizeBytes = 0
      for (let read = -1; read !== 0; sizeBytes += read) {
        ;({ bytesRead: read } = await handle.read(buffer, sizeBytes, buffer.length - sizeBytes, sizeBytes))
      }
      if (sizeBytes > stats.size) return { problem: `${skillFileName} grew while it was read.` }
      const bytes = buffer.subarray(0, sizeBytes)
      if (bytes.includes(0)) return { problem: `${skillFileName} must be a text file.` }
      return new TextDecoder().decode(bytes)
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (error instanceof Refusal)
      return { problem: `${skillFileName} must not be a link that leads out of its folder.` }
    if (!isFileSystemError(error)) throw error
    if (isMissing(error)) return { problem: `There is no ${skillFileName} in it.` }
    return { problem: `${skillFileName} cannot be read: ${error.code ?? 'unknown error'}.` }
  }
}
