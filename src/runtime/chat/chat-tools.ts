import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { isSearch, withSearch } from '../../rules/projection/deferred-tools.ts'
import { declare } from '../../tools/declare.ts'
import type { Tool, ToolContext } from '../../tools/port.ts'
import { keptOutput, toolOutput } from '../../tools/tool-output.ts'
import type { Entity } from '../../world/component.ts'
import { isThenable } from '../../base/is-thenable.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { Json } from '../../base/json.ts'
import { listOf, objectWith, refuseMisfit, table } from '../../base/option-shapes.ts'
import type { World } from '../../world/world.ts'

/** Where the handlers of tools come from, such as an MCP server. */
export interface ToolSource {
  readonly declarations: readonly ToolDeclaration[]
  /**
   * Runs a call. Gives a text, a `ToolOutput` or any JSON value; a throw fails the call with `tool-threw`. The key is the same
   * when a call runs again after a restart.
   */
  readonly call: (
    name: string,
    input: Json,
    context: {
      readonly signal: AbortSignal
      readonly key: string
      /** Reports progress to listeners. */
      readonly progress: ToolContext['progress']
    },
  ) => Promise<unknown>
}

/** Longest that closing waits for calls that were called off, in milliseconds of real time. */
const maxEndMs = 5_000

/** The handlers of a chat session: those of a turn, which stand in for those of its Host, and the calls that run. */
export class ChatTools {
  /** Of the turn. */
  readonly #tools = new Map<string, Tool>()
  readonly #running = new Set<PromiseLike<unknown>>()

  /** The handler for a call. @param ofHost the Host's, for a turn without tools of its own */
  handler(name: string, ofHost: Tool | undefined): Tool | undefined {
    const tool = this.#tools.get(name) ?? ofHost
    return tool && { ...tool, call: (input, context) => this.#noted(tool.call(input, context)) }
  }

  #noted<T>(result: T | Promise<T>): T | Promise<T> {
    if (!isThenable(result)) return result
    const forget = (): void => void this.#running.delete(result)
    this.#running.add(result)
    result.then(forget, forget)
    return result
  }

  /** Resolves once no call runs any more, so that their child processes have ended; or after 5 seconds. */
  async ended(): Promise<void> {
    if (this.#running.size === 0) return
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, maxEndMs)
    await Promise.race([Promise.allSettled(this.#running), late])
    clearTimeout(timer)
  }

  /**
   * Writes the declarations into the agent's registry. Tools of the World, such as those for subagents, stay.
   * Returns a function for `runner.change` that puts back what was there.
   */
  replace(world: World, agent: Entity, tools: readonly Tool[]): (world: World) => void {
    const before = world.get(agent, ToolRegistry)
    const names = new Set(tools.map(({ declaration }) => declaration.name))
    const ofWorld = before?.tools.filter((tool) => tool.world === true && !names.has(tool.name)) ?? []
    const declared = withSearch(declare(...tools, ...ofWorld))
    world.set(agent, ToolRegistry, { tools: declared })
    this.#tools.clear()
    for (const tool of tools) this.#tools.set(tool.declaration.name, tool)
    const isOfWorld = ({ name, world: isIn }: ToolDeclaration): boolean => isIn === true && !names.has(name)
    return (later) => {
      this.#tools.clear()
      if (before === undefined) return later.remove(agent, ToolRegistry)
      // Tools of the World may have come and gone during the turn. All have the places that they had.
      const now = later.get(agent, ToolRegistry)?.tools.filter(isOfWorld) ?? []
      const left = new Map(now.map((tool) => [tool.name, tool]))
      const own = before.tools.flatMap((tool) => {
        if (!isOfWorld(tool) || isSearch(tool)) return [tool]
        return left.get(tool.name) ?? []
      })
      const added = now.filter(({ name }) => !before.tools.some((tool) => tool.name === name))
      later.set(agent, ToolRegistry, { tools: withSearch([...own, ...added]) })
    }
  }
}

/** All tools of a turn's options. @throws `invalid-argument` */
export function toolsOf(
  source: ToolSource | undefined,
  tools: readonly Tool[] | undefined,
): readonly Tool[] | undefined {
  if (source === undefined && tools === undefined) return undefined
  if (source !== undefined) refuseMisfit('turn', 'toolSource', source, sourceShape)
  if (tools !== undefined) refuseMisfit('turn', 'tools', tools, toolsShape)
  const all = [
    ...(tools ?? []),
    ...(source?.declarations ?? []).map((declaration) => toolOf(source as ToolSource, declaration)),
  ]
  const names = all.map(({ declaration }) => declaration.name)
  const double = names.find((name, index) => names.indexOf(name) !== index)
  if (double === undefined) return all
  throw new EntiaError('invalid-argument', `turn: two tools are named '${double}'; a model could not tell them apart.`)
}

function toolOf(source: ToolSource, declaration: ToolDeclaration): Tool {
  const { name } = declaration
  return {
    declaration,
    call: async (input, { handles, key, progress, signal }) => {
      const result = await source.call(name, input, { key, progress, signal })
      return handles === undefined ? toolOutput(result) : keptOutput(result, handles)
    },
  }
}

const sourceShape = {
  wanted: 'a tool source, { declarations, call }',
  fits: (value: unknown) =>
    objectWith('', 'call').fits(value) &&
    listOf(table).fits((value as { readonly declarations?: unknown }).declarations),
}
const toolsShape = listOf({
  wanted: 'a tool; make one with defineTool',
  fits: (value) =>
    objectWith('', 'call').fits(value) && table.fits((value as { readonly declaration?: unknown }).declaration),
})
