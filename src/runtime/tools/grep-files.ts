import { defineTool } from '../../tools/define-tool.ts'
import { grepFilesOptions } from '../../tools/file-tools.ts'
import type { Tool } from '../../tools/port.ts'
import type { ToolSettings } from './settings.ts'

/** The tool `grep_files`: lines that match a pattern, in a file or in all files of a folder. */
export function grepFilesTool(settings: ToolSettings): Tool {
  return defineTool({
    ...grepFilesOptions(),
    category: 'file',
    operation: 'read',
    paths: ['path'],
    run: async (input, context) => (await import('./search-files.ts')).searchFiles(input, settings, context),
  })
}
