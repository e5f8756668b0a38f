import type { Tool } from '../../index.ts'

const pauseMs = 300

/** The same tool, only slower: where scripts read, nothing else would take long enough to be seen. */
export function pacedTool({ declaration, call }: Tool): Tool {
  return {
    declaration,
    async call(input, context) {
      await context.sleep(pauseMs)
      return call(input, context)
    },
  }
}
