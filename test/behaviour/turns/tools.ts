import { defineTool, type Tool, type ToolContext } from 'entia'
import { z } from 'zod'

/** A tool without arguments. */
export function tool(
  name: string,
  run: (context: ToolContext) => unknown,
  options: Partial<Omit<Parameters<typeof defineTool>[0], 'name' | 'input' | 'run'>> = {},
): Tool {
  const description = `Does ${name}.`
  return defineTool({
    name,
    description,
    restart: 'pure',
    ...options,
    input: z.object({}),
    run: (_, context) => run(context),
  })
}

/** A tool that takes `{ n }` and takes so many milliseconds. */
export const wait = defineTool({
  name: 'wait',
  description: 'Waits.',
  input: z.object({ n: z.number() }),
  restart: 'pure',
  run: async ({ n }, { sleep }) => {
    await sleep(n)
    return `waited ${n}`
  },
})
