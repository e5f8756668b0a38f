import { z } from 'zod'
import { defineTool } from '../../../tools/define-tool.ts'
import type { Tool } from '../../../tools/port.ts'
import type { ToolSettings } from '../settings.ts'
import type { JsProcesses } from './js-processes.ts'

const maxCodeChars = 100_000

const codeSchema = () =>
  z.strictObject({
    code: z.string().min(1).max(maxCodeChars).describe('JavaScript. The value of its last expression is shown.'),
    timeoutMs: z.int().min(1).max(600_000).default(30_000).describe('Longest run, in milliseconds.'),
    returnName: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .describe('A variable whose value is to be stored under a handle as well.'),
  })

/** The tool `run_js`: runs JavaScript in a process of the agent, which keeps its variables from call to call. */
export function runJsTool(settings: ToolSettings, js: JsProcesses): Tool {
  const tool = defineTool({
    name: 'run_js',
    description:
      'Runs JavaScript with Node.js in a process of your own, in the working folder; variables stay for later calls. ' +
      'Top-level await, import() and require work. Gives what it prints and the value of the last expression; a large ' +
      "value is stored under a handle such as .h_001, and h('.h_001') gives it back.",
    input: codeSchema(),
    restart: 'once',
    category: 'js',
    operation: 'exec',
    paths: [],
    run: async (input, context) => (await import('./run-code.ts')).runCode(input, settings, js, context),
  })
  return { ...tool, named: async (name, of) => (await import('./run-code.ts')).namedValue(name, settings, js, of) }
}
