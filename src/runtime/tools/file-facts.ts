import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { FileFact } from '../../protocol/file-fact.ts'
import { pathArguments } from '../../rules/policy/call.ts'
import { absolute } from '../../rules/policy/paths.ts'
import { isChanged } from '../../rules/workspace/staleness.ts'
import type { Tool, ToolOutput } from '../../tools/port.ts'
import type { Json } from '../../base/json.ts'
import { pathStyle } from '../policy/real-paths.ts'
import type { ToolSettings } from './settings.ts'

/**
 * A tool that says what the files of its arguments were like when it ended; one that runs programs says which of the files that the
 * agent knows have changed. For an agent without `Retrieval` it says nothing.
 */
export function withFileFacts(tool: Tool, { cwd, home }: Pick<ToolSettings, 'cwd' | 'home'>): Tool {
  const { call, declaration } = tool
  const isProgram = declaration.operation === 'exec'
  const named = (input: Json): readonly string[] =>
    pathArguments({ tool: declaration.name, arguments: input, channel: 'cli', cwd, home, declared: declaration })
  return {
    ...tool,
    async call(input, context) {
      const output = await call(input, context)
      const { knownFiles } = context
      // A program that has failed may have written files all the same.
      if (knownFiles === undefined || (output.isError === true && !isProgram)) return output
      const files = isProgram
        ? await changed(knownFiles)
        : await Promise.all(named(input).map((path) => factOf(resolve(absolute(path, { cwd, home, pathStyle })))))
      return files.length === 0 ? output : ({ ...output, files } satisfies ToolOutput)
    },
  }
}

async function changed(known: readonly FileFact[]): Promise<readonly FileFact[]> {
  const found = await Promise.all(
    known.map(async (before) => {
      const now = await factOf(before.path)
      return isChanged(before, now) ? [now] : []
    }),
  )
  return found.flat()
}

async function factOf(path: string): Promise<FileFact> {
  try {
    const { mtimeMs, size } = await stat(path)
    return { path, sizeBytes: size, changedMs: mtimeMs }
  } catch {
    // It is gone: nothing can be made from it again.
    return { path, sizeBytes: 0, changedMs: 0 }
  }
}
