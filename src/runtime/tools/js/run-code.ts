import { oneLine } from '../../../base/one-line.ts'
import { stat } from 'node:fs/promises'
import { inlineOrHandle, storedText } from '../../../rules/handles/inline-or-handle.ts'
import { handleNumber } from '../../../rules/handles/handle-name.ts'
import { shapeOf } from '../../../rules/handles/shape-of.ts'
import { cutText } from '../../../base/cut-text.ts'
import { cleanText } from '../../../tools/files/clean-text.ts'
import type { HandleStore, KnownHandle, NamedValue, ToolContext, ToolOutput } from '../../../tools/port.ts'
import { NotConfined } from '../../sandbox/port.ts'
import { errorOutput, keptText, leftOutNote, standardMaxResultChars } from '../../../tools/tool-output.ts'
import type { Json } from '../../../base/json.ts'
import type { ToolSettings } from '../settings.ts'
import type { DescribedValue } from './described-value.ts'
import type { JsProcess } from './js-process.ts'
import type { JsProcesses, JsResult } from './js-processes.ts'
import { rewrittenCode } from './rewritten-code.ts'
import type { HandleAnswer } from './workspace.ts'

export interface CodeRequest {
  readonly code: string
  readonly timeoutMs: number
  readonly returnName?: string | undefined
}

const notAName = 'it must be one name or one handle, such as .h_001'

/** Longest time that a value is looked up. */
const maxLookUpMs = 10_000

const isName = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u

/** Room for notes beside output and value, in characters. */
const noteChars = 1_000

const maxNameChars = 60

/** Most handles that an error names, the newest. */
const maxListed = 50

/** Longest text that is shown in quotes. */
const maxQuotedChars = 1_000

/** Does the work of `run_js`. */
export function runCode(
  { code, timeoutMs, returnName }: CodeRequest,
  settings: ToolSettings,
  js: JsProcesses,
  context: ToolContext,
): Promise<string | ToolOutput> {
  const { cwd } = settings
  return js.inTurn(`${context.world}\0${context.agent}`, context.signal, async (run) => {
    const folder = await stat(cwd).catch(() => undefined)
    if (folder?.isDirectory() !== true) return errorOutput(`The working folder ${cwd} does not exist.`)
    const place = { cwd, env: settings.bareEnvironment(), sandbox: settings.sandbox }
    const rewritten = await rewrittenCode(code)
    try {
      const result = await run(place, {
        ...rewritten,
        returnName: returnName !== undefined && isName.test(returnName) ? returnName : undefined,
        timeoutMs,
        signal: context.signal,
        handle: (handle) => handleFor(handle, context.handles),
      })
      return await resultText(result, returnName, context)
    } catch (error) {
      if (error instanceof NotConfined) return errorOutput(error.message)
      throw error
    }
  })
}

/** A variable of an agent, by its name. Starts no process. */
export async function namedValue(
  name: string,
  settings: ToolSettings,
  js: JsProcesses,
  { agent, signal, world }: Pick<ToolContext, 'agent' | 'signal' | 'world'>,
): Promise<NamedValue> {
  const key = `${world}\0${agent}`
  if (!isName.test(name)) return { why: notAName }
  if (!js.has(key)) return { why: 'run_js has no values of it' }
  return js.inTurn(key, signal, async (run) => {
    const code = await rewrittenCode('')
    const place = { cwd: settings.cwd, env: settings.bareEnvironment(), sandbox: settings.sandbox }
    const { end, isRestarted } = await run(place, {
      ...code,
      returnName: name,
      timeoutMs: maxLookUpMs,
      signal,
      handle: noHandle,
    })
    if (isRestarted) return { why: 'run_js was started anew, earlier values are gone' }
    if (end.type !== 'done' || end.named === undefined) return { why: 'run_js has ended' }
    if ('why' in end.named) return end.named
    const { json } = end.named
    return json === undefined ? { why: 'it cannot be copied' } : { value: JSON.parse(json) as Json }
  })
}

async function noHandle(): Promise<HandleAnswer> {
  return { problem: 'No code runs.' }
}

/** What `h` gives, as far as the process does not know it itself. */
async function handleFor(name: string, handles: HandleStore | undefined): Promise<HandleAnswer> {
  const known = knownHandle(name, handles)
  if (known === undefined) {
    const names = (handles?.list() ?? []).slice(-maxListed).map(({ handle }) => handle)
    const hint = names.length === 0 ? 'Nothing is stored yet.' : `There are ${names.join(', ')}.`
    return { problem: `There is no handle ${cutText(name, maxNameChars, '…')}. ${hint}` }
  }
  const { handle, isLive } = known
  if (isLive === true) return { problem: `${handle} is lost: the process that had its value has ended.` }
  const value = await handles?.read(handle)
  return value === undefined ? { problem: `The value of ${handle} is gone.` } : { json: JSON.stringify(value) }
}

function knownHandle(name: string, handles: HandleStore | undefined): KnownHandle | undefined {
  const number = handleNumber(name)
  return number === undefined ? undefined : handles?.list().find(({ handle }) => handleNumber(handle) === number)
}

async function resultText(
  { end, process, isRestarted }: JsResult,
  returnName: string | undefined,
  context: ToolContext,
): Promise<string | ToolOutput> {
  const parts = isRestarted ? ['[workspace restarted: earlier values are gone]'] : []
  const text = await end.output.text(context)
  const printed = end.type === 'ended' ? withoutCrash(text) : text
  if (printed !== '') parts.push(printed)
  if (end.type === 'not-begun') return failed([...parts, `[the process of run_js did not run the code: ${end.note}]`])
  const shown = end.type === 'threw' ? cleanText(end.problem) : ''
  const stopped = await process.stopped(`${printed}\n${shown}`, end.type !== 'done')
  const also = stopped === undefined ? [] : [stopped]
  if (end.type === 'ended') return failed([...parts, ...also, `[${end.note}; the values of this workspace are gone]`])
  if (end.type === 'threw') return failed([...parts, shown, ...also])
  parts.push(...also)
  const keeper = new Keeper(process, context.handles)
  const room = standardMaxResultChars - noteChars - parts.join('\n').length
  if (end.value !== undefined) parts.push(await valueText(end.value, keeper, room, context))
  else if (parts.length === 0) parts.push('undefined')
  if (returnName !== undefined) parts.push(await namedText(returnName, end.named, keeper, context))
  return parts.join('\n')
}

function failed(parts: readonly string[]): ToolOutput {
  return { content: [{ type: 'text', text: parts.join('\n') }], isError: true }
}

/** Without what V8 and Node print at the end of a process: it says nothing to a model. */
function withoutCrash(printed: string): string {
  const at = printed.lastIndexOf('<--- Last few GCs --->')
  const own = at === -1 ? printed : printed.slice(0, at)
  return own.replace(/(^|\n)Waiting for the debugger to disconnect\.\.\.$/, '').trimEnd()
}

/** The last value, or where it went. */
async function valueText(
  described: DescribedValue,
  keeper: Keeper,
  room: number,
  { handles }: ToolContext,
): Promise<string> {
  const { json, preview, isLong } = described
  const value = json === undefined ? undefined : (JSON.parse(json) as Json)
  if (typeof value === 'string') {
    // One with line breaks, and a long one, read better as they are.
    const text = cleanText(/\n/.test(value) || value.length > maxQuotedChars ? value : preview)
    if (text.length <= room) return text
    const shown = cutText(text, room)
    return `${shown}\n[${leftOutNote(text.length - shown.length, await keptText(handles, text))}]`
  }
  const isShown = value === undefined ? !isLong : inlineOrHandle(value, json) === 'inline'
  return (isShown ? undefined : await keeper.keep(described, 'last')) ?? cleanText(preview)
}

/** The note about `returnName`. */
async function namedText(
  name: string,
  named: DescribedValue | { readonly why: string } | undefined,
  keeper: Keeper,
  { handles }: ToolContext,
): Promise<string> {
  const missed = (why: string): string => {
    return `[returnName ${JSON.stringify(cutText(oneLine(cleanText(name)), maxNameChars, '…'))}: ${why}]`
  }
  if (handles === undefined) return missed('this agent stores no values')
  if (handleNumber(name) !== undefined) {
    const known = knownHandle(name, handles)
    return known === undefined ? missed('there is no such handle') : `[stored as ${known.handle}]`
  }
  if (named === undefined) return missed(notAName)
  if ('why' in named) return missed(named.why)
  const stored = await keeper.keep(named, 'named')
  return stored?.slice(stored.lastIndexOf('\n') + 1) ?? missed('it cannot be stored')
}

/** Puts values under handles. */
class Keeper {
  readonly #process: JsProcess
  readonly #handles: HandleStore | undefined

  constructor(process: JsProcess, handles: HandleStore | undefined) {
    this.#process = process
    this.#handles = handles
  }

  /** The shape of a value and its handle; `undefined` if it cannot be kept. */
  async keep({ json, shape }: DescribedValue, as: 'last' | 'named'): Promise<string | undefined> {
    if (this.#handles === undefined) return undefined
    try {
      if (json !== undefined) {
        const value = JSON.parse(json) as Json
        return storedText(shapeOf(value), await this.#handles.keep(value))
      }
      const handle = await this.#handles.keepLive(shape)
      await this.#process.bind(handle, as)
      return storedText(shape, handle)
    } catch {
      // A result is not lost because the disk is full.
      return undefined
    }
  }
}
