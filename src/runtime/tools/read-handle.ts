import { z } from 'zod'
import { handleOperations, readValue } from '../../rules/handles/read-value.ts'
import { handleNumber } from '../../rules/handles/handle-name.ts'
import { readHandleName } from '../../rules/handles/handles-of.ts'
import { defineTool } from '../../tools/define-tool.ts'
import type { HandleStore, KnownHandle, Tool, ToolContext, ToolOutput } from '../../tools/port.ts'
import { errorOutput } from '../../tools/tool-output.ts'

/** Most handles that an error lists, the newest. */
const maxListed = 50

const readHandleSchema = () =>
  z.strictObject({
    handle: z.string(),
    op: z
      .enum(handleOperations)
      .default('str')
      .describe(
        'str: what it is; head: 20 lines or elements; summary: counts, minimum, maximum, columns; print: page by page.',
      ),
    offset: z.int().min(0).optional().describe('Lines or elements to skip.'),
    limit: z.int().min(1).max(10_000).optional(),
  })

/** The tool `read_handle`: shows a value that was stored because a result had no room for it. */
export function readHandleTool(): Tool {
  return defineTool({
    name: readHandleName,
    description: 'Shows a stored value: a result that is too long names its handle, such as [stored as .h_001].',
    input: readHandleSchema(),
    restart: 'pure',
    category: 'data',
    operation: 'read',
    paths: [],
    run: readHandle,
  })
}

async function readHandle(
  { handle, op, ...page }: z.output<ReturnType<typeof readHandleSchema>>,
  { handles }: ToolContext,
): Promise<string | ToolOutput> {
  if (handles === undefined) return errorOutput('this agent stores no values.')
  const value = await handles.read(handle)
  if (value === undefined) return errorOutput(problemOf(handle, handles))
  const text = readValue(value, op, page)
  return typeof text === 'string' ? text : errorOutput(text.problem)
}

function problemOf(name: string, handles: HandleStore): string {
  const all = handles.list()
  const number = handleNumber(name)
  const known = all.find(({ handle }) => handleNumber(handle) === number)
  if (known?.isLost === true) return `${name} is lost: run_js, which had its value, was started anew.`
  if (known?.isLive === true) return `${name} is a value in run_js; look at it there with h('${name}').`
  if (known !== undefined) return `the value of ${name} is gone: it was not saved with this conversation.`
  if (all.length === 0) return `there is no handle ${name}, nothing is stored yet.`
  const listed = all.slice(-maxListed)
  const earlier = all.length - listed.length
  const more = earlier > 0 ? [`… and ${earlier} earlier ones`] : []
  return [`there is no handle ${name}. There are:`, ...listed.map(line), ...more].join('\n')
}

function line({ handle, isLive, isLost, shape }: KnownHandle): string {
  return `${handle} ${shape}${isLost === true ? ' (lost)' : isLive === true ? ' (in run_js)' : ''}`
}
