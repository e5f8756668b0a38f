import { refusable } from '../../tools/files/refusal.ts'
import type { ToolOutput } from '../../tools/port.ts'
import { type EditedFile, editInTurn, replaceFile, wholeBefore } from './edited-file.ts'
import { type KeptForm, keptForm } from './kept-form.ts'
import type { ToolSettings } from './settings.ts'

/** Does the work of `write_file`. */
export function writeWhole(path: string, content: string, settings: ToolSettings): Promise<string | ToolOutput> {
  const write = async ({ isNew, realPath }: EditedFile): Promise<string> => {
    const before = isNew ? Buffer.alloc(0) : await wholeBefore(path, realPath)
    const { bytes, kept, lost } = before === undefined ? unseen(content) : keptForm(before, content)
    if (!isNew && before?.equals(bytes) === true) return `Nothing was changed: ${path} has this content already.`
    await replaceFile(realPath, bytes, settings)
    const more = [
      ...(kept.length === 0 ? [] : [` It keeps ${kept.join(', ')}.`]),
      ...(lost === undefined ? [] : [` ${lost}`]),
    ]
    return `Wrote ${bytes.length} bytes to ${path} (${isNew ? 'new' : 'replaced'}).${more.join('')}`
  }
  return refusable(path, () => editInTurn(path, settings, write), 'written')
}

/** In place of a file that is too large to be looked at. */
function unseen(content: string): KeptForm {
  return { bytes: Buffer.from(content), kept: [], lost: 'It was too large to keep its line ends and its encoding.' }
}
