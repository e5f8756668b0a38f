import { errorOutput } from '../../tools/tool-output.ts'
import type { Tool } from '../../tools/port.ts'
import { RealPaths } from '../policy/real-paths.ts'

/**
 * A tool that gives up where a path leads elsewhere than when a policy judged its call: a link may have changed since, while
 * a person was asked.
 */
export function withJudgedPlaces(tool: Tool): Tool {
  const { call } = tool
  return {
    ...tool,
    call(input, context) {
      const { places } = context
      if (places === undefined) return call(input, context)
      return movedPath(places).then((moved) => {
        if (moved === undefined) return call(input, context)
        return errorOutput(`${moved} leads elsewhere now than when the call was judged. Call it again.`)
      })
    },
  }
}

async function movedPath(places: Readonly<Record<string, readonly string[]>>): Promise<string | undefined> {
  const disk = new RealPaths()
  for (const [path, before] of Object.entries(places)) {
    const now = await disk.leadsTo(path)
    if (now.length !== before.length || now.some((place, at) => place !== before[at])) return path
  }
  return undefined
}
