import { z } from 'zod'
import { defineTool } from '../../../tools/define-tool.ts'
import type { Tool } from '../../../tools/port.ts'
import type { ToolSettings } from '../settings.ts'
import type { JsProcesses } from './js-processes.ts'

const maxCodeChars = 100_000

const codeSchema = () =>
  z.strictObject({
    code: z.string().min(1).max(maxCodeChars),
    timeoutMs: z.int().min(1).max(600_000).default(30_000),
    returnName: z.string().min(1).max(1_000).optional().describe('Variable to store under a handle as well.'),
  })

/** The tool `run_js`: runs JavaScript in a process of the agent, which keeps its variables from call to call. */
export function runJsTool(settings: ToolSettings, js: JsProcesses): Tool {
  const tool = defineTool({
    name: 'run_js',
    description:
      'Runs JavaScript in Node.js; variables stay for later calls. Top-level await, import() and ' +
      "require work. Gives the output and the last expression's value; a large one is stored: h('.h_001') gives it back.",
    input: codeSchema(),
    restart: 'once',
    category: 'js',
    operation: 'exec',
    paths: [],
    run: async (input, context) => (await import('./run-code.ts')).runCode(input, settings, js, context),
  })
  return { ...tool, named: async (name, of) => (await import('./run-code.ts')).namedValue(name, settings, js, of) }
}
