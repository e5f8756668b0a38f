import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.ts'
import { refusable, Refusal } from '../../tools/files/refusal.ts'
import type { Tool } from '../../tools/port.ts'
import type { GitView } from './git-view.ts'
import type { ToolSettings } from './settings.ts'

const diffSchema = () =>
  z.strictObject({
    ref: z.string().min(1).max(1_000).optional().describe('Commit, branch or range.'),
    staged: z.boolean().default(false),
    file: z.string().min(1).optional().describe('Only this file or folder.'),
    contextLines: z.int().min(0).max(1_000).default(3),
  })

/** The tool `git_diff`: what has changed. */
export function gitDiffTool(settings: ToolSettings): Tool {
  return defineTool({
    name: 'git_diff',
    description: 'Shows changes: not yet staged, staged, or against a ref.',
    input: diffSchema(),
    restart: 'pure',
    category: 'git',
    operation: 'read',
    paths: ['file'],
    run: ({ ref, staged, file, contextLines }, context) =>
      refusable(file ?? settings.cwd, async () => {
        const { GitView } = await import('./git-view.ts')
        const view = await GitView.open(file, settings, context)
        const isFile = (await view.checkRef(ref)) === 'file'
        const what = [...(staged ? ['--staged'] : []), ...(ref === undefined ? [] : [ref])]
        await view.countOutside(what)
        return diffText(view, [`--unified=${contextLines}`, ...what], isFile)
      }),
  })
}

const plain = [
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--find-renames',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--submodule=short',
  '--ignore-submodules=dirty',
]

/** More files that are left out cannot be named to git. */
const maxExcluded = 5_000

/**
 * A patch follows the list of its files: if one is to be left out, git is asked again without it, so no file is shown that was
 * not judged.
 */
async function diffText(view: GitView, what: readonly string[], isJudged: boolean): Promise<string> {
  const { cleanText } = await import('../../tools/files/clean-text.ts')
  const { excluding } = await import('./git-view.ts')
  const excluded = new Set<string>()
  for (;;) {
    const places = ['--', ...view.limits, ...excluded]
    const { isCut, output } = await view.run(['diff', '--patch-with-raw', '-z', ...plain, ...what, ...places])
    const { changes, isMerging, patch } = partsOf(output)
    if (patch === undefined && isCut) throw new Refusal('There are too many changes to list. Name a file or folder.')
    const kinds = changes.map((names) => (isJudged ? undefined : view.kindOfChange(names)))
    if (kinds.every((kind) => kind === undefined)) {
      const shown = isMerging
        ? await view.run(['diff', '--patch', ...plain, ...what, ...places])
        : { isCut, output: patch }
      return view.text(cleanText(shown.output?.toString() ?? ''), shown.isCut)
    }
    const before = excluded.size
    for (const [index, kind] of kinds.entries()) {
      if (kind === undefined) continue
      view.leftOut.add(kind)
      for (const name of changes[index] ?? []) excluded.add(excluding(name))
    }
    if (excluded.size > maxExcluded || excluded.size === before)
      throw new Refusal('The files to leave out cannot be left out. Name a file or folder.')
  }
}

interface Parts {
  /** The names of each, two of one that is renamed. */
  readonly changes: readonly (readonly Buffer[])[]
  /** Files stand between versions of a merge: git lists them without a patch. */
  readonly isMerging: boolean
  /** Absent: there is none, or the list was cut. */
  readonly patch?: Buffer
}

/** Reads a list of files with a patch behind it. */
function partsOf(output: Buffer): Parts {
  let at = 0
  const field = (): Buffer => {
    const end = output.indexOf(0, at)
    const found = output.subarray(at, end === -1 ? output.length : end)
    at = end === -1 ? output.length : end + 1
    return found
  }
  const changes: Buffer[][] = []
  let isMerging = false
  while (output[at] === colon) {
    const facts = field().toString()
    const isOfMerge = facts.startsWith('::')
    isMerging ||= isOfMerge
    const isRenamed = !isOfMerge && /[CR]\d*$/.test(facts)
    changes.push(isRenamed ? [field(), field()] : [field()])
  }
  return { changes, isMerging, ...(output[at] === 0 && { patch: output.subarray(at + 1) }) }
}

const colon = ':'.charCodeAt(0)
