import { z } from 'zod'
import { defineTool } from '../define-tool.ts'
import type { Tool, ToolContext } from '../port.ts'
import type { ConfinedFolder } from './confined-folder.ts'
import { refusable, Refusal } from './refusal.ts'
import { ResultLines, shownLine } from './result-lines.ts'
import { BinaryFile, textChunks } from './text-chunks.ts'

const maxLines = 2_000
const maxLineChars = 2_000
const progressBytes = 64 * 1024 * 1024

const Input = z.strictObject({
  path: z.string().min(1).describe('Path of the file, from the folder of the tools.'),
  from: z.int().min(1).default(1).describe('First line, counted from 1.'),
  lines: z.int().min(1).max(maxLines).default(maxLines).describe('How many lines.'),
  lineNumbers: z.boolean().default(true).describe('Puts the number and a tab before each line.'),
})

/** The tool `read_file`: lines of a text file in a folder. */
export function readFileTool(folder: ConfinedFolder): Tool {
  return defineTool({
    name: 'read_file',
    description:
      `Reads a text file: up to ${maxLines} lines at a time, each cut at ${maxLineChars} characters. ` +
      'A note at the end says where to read on.',
    input: Input,
    restart: 'pure',
    run: (input, context) => refusable(input.path, () => readLines(folder, input, context)),
  })
}

/** The whole file is gone through even where a part is asked for: the note says how many lines there are. */
async function readLines(folder: ConfinedFolder, input: z.infer<typeof Input>, context: ToolContext): Promise<string> {
  const { path, from, lineNumbers } = input
  const { realPath, stats } = await folder.find(path)
  if (stats.isDirectory()) throw Refusal.of(path, 'is a folder; list_files shows what is in it.')
  if (!stats.isFile()) throw Refusal.of(path, 'is no regular file.')
  const result = new ResultLines()
  let count = 0
  let readBytes = 0
  try {
    for await (const { lines, sizeBytes } of textChunks(realPath, { maxLineChars, signal: context.signal })) {
      for (const line of lines) {
        count++
        if (count < from || result.count === input.lines || result.isFull) continue
        const text = shownLine(line, maxLineChars)
        result.add(lineNumbers ? `${count}\t${text}` : text)
      }
      const isRound = Math.floor(readBytes / progressBytes) < Math.floor((readBytes + sizeBytes) / progressBytes)
      readBytes += sizeBytes
      if (isRound) context.progress(`read ${Math.floor(readBytes / 1e6)} MB`, Math.min(1, readBytes / stats.size))
    }
  } catch (error) {
    if (error instanceof BinaryFile) throw Refusal.of(path, 'is a binary file.')
    throw error
  }
  if (count === 0 && from === 1) return '[empty file]'
  if (from > count) throw Refusal.of(path, `has ${count} lines; from=${from} is past its end.`)
  return result.text(rangeNote(from, from + result.count - 1, count))
}

function rangeNote(first: number, last: number, count: number): string[] {
  if (last < count) return [`lines ${first}-${last} of ${count}; read on with from=${last + 1}`]
  return first > 1 ? [`lines ${first}-${last} of ${count}`] : []
}
