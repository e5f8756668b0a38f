import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.ts'
import type { Tool } from '../../tools/port.ts'
import type { BackgroundShells } from './background-shells.ts'

const id = () => z.string().min(1).max(100).describe('The id that bash has given, such as sh_1a2b3c4d.')

/** The tool `shell_output`: reads on in a shell that runs in the background. */
export function shellOutputTool(shells: BackgroundShells): Tool {
  return defineTool({
    name: 'shell_output',
    description:
      'Gives what a background shell has printed since it was last read, and whether it still runs. ' +
      'Without an id: lists your background shells.',
    input: z.strictObject({
      id: id().optional(),
      waitMs: z
        .int()
        .min(0)
        .max(600_000)
        .default(0)
        .describe('How long to wait for output if there is none, in milliseconds.'),
    }),
    // What it reads is gone with the process that a restart would have to read it from.
    restart: 'pure',
    category: 'code',
    operation: 'read',
    paths: [],
    run: async (input, context) => (await import('./run-command.ts')).readShell(shells, input, context),
  })
}

/** The tool `shell_stop`: ends a shell that runs in the background. */
export function shellStopTool(shells: BackgroundShells): Tool {
  return defineTool({
    name: 'shell_stop',
    description: 'Stops a background shell with all processes that it has started, and gives the rest of its output.',
    input: z.strictObject({ id: id() }),
    restart: 'keyed',
    category: 'code',
    // It ends what the agent was allowed to start, and nothing else.
    operation: 'read',
    paths: [],
    run: async (input, context) => (await import('./run-command.ts')).stopShell(shells, input, context),
  })
}
