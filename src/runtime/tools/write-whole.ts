import { refusable } from '../../tools/files/refusal.ts'
import type { ToolOutput } from '../../tools/port.ts'
import { type EditedFile, editInTurn, replaceFile, wholeBefore } from './edited-file.ts'
import { keptForm } from './kept-form.ts'
import type { ToolSettings } from './settings.ts'

/** Does the work of `write_file`. */
export function writeWhole(path: string, content: string, settings: ToolSettings): Promise<string | ToolOutput> {
  const write = async ({ isNew, realPath }: EditedFile): Promise<string> => {
    const before = isNew ? undefined : await wholeBefore(path, realPath)
    const { bytes, isReencoded, kept } = keptForm(before ?? Buffer.alloc(0), content)
    if (before?.equals(bytes) === true) return `Nothing was changed: ${path} has this content already.`
    await replaceFile(realPath, bytes, settings)
    const more = [
      ...(kept.length === 0 ? [] : [` It keeps ${kept.join(', ')}.`]),
      ...(isReencoded ? [' It was not in UTF-8 before, and is now.'] : []),
    ]
    return `Wrote ${bytes.length} bytes to ${path} (${isNew ? 'new' : 'replaced'}).${more.join('')}`
  }
  return refusable(path, () => editInTurn(path, settings, write), 'written')
}
