import { type Asked, type AskedModel, sharedMessages } from './asked.ts'
import type { CallPlace, RecordedCall } from './answer-book.ts'
import type { Message } from '../../protocol/message.ts'
import type { ModelRequest } from '../../models/port.ts'
import { textOf } from '../../rules/projection/text-of.ts'

/** A call of a replay that its recording has no answer to, and what differs from the nearest recorded call. */
export interface Missed extends CallPlace, Partial<RequestDifference> {
  /** `model`, `tool`, `approval`, or a custom kind. */
  readonly kind: string
  /** `provider/model`, the tool, or the kind. */
  readonly name: string
  readonly tick: number
  readonly message: string
}

/** @param hint another possible cause */
export function missed(
  asked: Asked,
  place: CallPlace,
  tick: number,
  nearest: RecordedCall | undefined,
  hint: string | undefined,
): Missed {
  const { kind, name } = asked
  const isSame = nearest?.asked.fingerprint === asked.fingerprint
  const difference = nearest === undefined || isSame ? undefined : requestDifference(nearest.asked, asked)
  const whose = place.agent === undefined ? `World ${place.label}` : `Agent ${place.agent} of ${place.label}`
  const what = kind === 'model' ? `the request to ${name}` : `the ${kind === name ? 'call' : kind} '${name}'`
  const said = `${whose}, step ${place.step}: ${what} is not in the recording. ${why(nearest, place, difference)}`
  const message = hint === undefined ? said : `${said} ${hint}`
  return { ...place, kind, name, tick, ...difference, message }
}

function why(nearest: RecordedCall | undefined, place: CallPlace, difference: RequestDifference | undefined): string {
  if (nearest === undefined) return 'Nothing of the kind was recorded.'
  const { label, agent, step } = nearest
  const isThere = label === place.label && agent === place.agent && step === place.step
  const other = agent === undefined ? label : `agent ${agent} of ${label}`
  const compared = isThere ? '' : ` (compared with step ${step} of ${other}, which is the most like it)`
  if (difference === undefined) {
    return nearest.outcome === 'cut-off'
      ? `The recording ends while it is under way${compared}.`
      : `It was recorded, but not so often${compared}.`
  }
  const { component, where, recorded, replayed } = difference
  return `What differs first is ${component}, in ${where}: recorded ${quoted(recorded)}, got ${quoted(replayed)}${compared}.`
}

function quoted(excerpt: string | undefined): string {
  return excerpt === undefined ? 'nothing' : JSON.stringify(excerpt)
}

/** How a request differs from the recorded one. */
export interface RequestDifference {
  /** The component that differs: of the agent for a model call, else the one that holds the request. */
  readonly component: string
  /** Where in it, such as `message 3 (tool)` or `tool 'look'`. */
  readonly where: string
  /** An excerpt; absent: nothing there. */
  readonly recorded?: string
  /** An excerpt; absent: nothing there. */
  readonly replayed?: string
  /** @deprecated Use `replayed`. */
  readonly came?: string
}

function requestDifference(recorded: Asked, replayed: Asked): RequestDifference {
  if (recorded.request !== undefined && replayed.request !== undefined) {
    return modelDifference(recorded.name, recorded.request, replayed.name, replayed.request)
  }
  const component = { tool: 'ToolCall', approval: 'Approval' }[replayed.kind] ?? replayed.kind
  const where =
    replayed.kind === 'tool' || replayed.kind === 'approval' ? 'name and arguments' : 'what stands beside the effect'
  const [was, is] = [`${recorded.name} ${text(recorded.data)}`, `${replayed.name} ${text(replayed.data)}`]
  return differing(component, where, was, is)
}

function modelDifference(before: string, recorded: AskedModel, after: string, replayed: AskedModel): RequestDifference {
  return (
    systemDifference(recorded, replayed) ??
    toolsDifference(recorded, replayed) ??
    llmDifference(before, recorded, after, replayed) ??
    (text(recorded.outputSchema) === text(replayed.outputSchema)
      ? messagesDifference(recorded, replayed)
      : differing('OutputSchema', 'schema', text(recorded.outputSchema), text(replayed.outputSchema)))
  )
}

/** A prompt is made from several components: names the one that changed. */
function systemDifference(recorded: AskedModel, replayed: AskedModel): RequestDifference | undefined {
  if (recorded.system === replayed.system) return undefined
  if (text(recorded.prompt) === text(replayed.prompt)) {
    const tools = toolsDifference(recorded, replayed)
    if (tools !== undefined) return tools
    if (text(recorded.skills) !== text(replayed.skills)) {
      return differing('Skills', 'system prompt', recorded.system, replayed.system)
    }
  }
  return differing('SystemPrompt', 'text', recorded.system, replayed.system)
}

function toolsDifference(
  { tools: recorded }: ModelRequest,
  { tools: replayed }: ModelRequest,
): RequestDifference | undefined {
  for (const tool of replayed) {
    const before = recorded.find(({ name }) => name === tool.name)
    if (before === undefined)
      return { component: 'ToolRegistry', where: `tool '${tool.name}'`, ...bothNames(cut(text(tool))) }
    const fields = new Set([...Object.keys(before), ...Object.keys(tool)]) as Set<keyof typeof tool>
    for (const field of fields) {
      const [was, is] = [text(before[field]), text(tool[field])]
      if (was !== is) return differing('ToolRegistry', `${field} of tool '${tool.name}'`, was, is)
    }
  }
  const gone = recorded.find(({ name }) => replayed.every((tool) => tool.name !== name))
  if (gone !== undefined) return { component: 'ToolRegistry', where: `tool '${gone.name}'`, recorded: cut(text(gone)) }
  const [before, after] = [namesOf(recorded), namesOf(replayed)]
  return before === after ? undefined : differing('ToolRegistry', 'order', before, after)
}

function namesOf(tools: ModelRequest['tools']): string {
  return tools.map(({ name }) => name).join(', ')
}

function llmDifference(
  before: string,
  recorded: ModelRequest,
  after: string,
  replayed: ModelRequest,
): RequestDifference | undefined {
  if (before !== after) return differing('Llm', 'model', before, after)
  for (const key of ['maxOutputTokens', 'temperature', 'thinking', 'extra'] as const) {
    const [was, is] = [text(recorded.options[key]), text(replayed.options[key])]
    if (was !== is) return differing('Llm', key, was, is)
  }
  return undefined
}

function messagesDifference(recorded: ModelRequest, replayed: ModelRequest): RequestDifference {
  const index = sharedMessages(recorded, replayed)
  const [was, is] = [recorded.messages.at(index), replayed.messages.at(index)]
  const role = (is ?? was)?.role
  const where = role === undefined ? 'messages behind it' : `message ${index + 1} (${role})`
  return differing('Conversation', where, shown(was), shown(is))
}

function shown(message: Message | undefined): string {
  if (message === undefined) return ''
  return message.content.every(({ type }) => type === 'text') ? textOf(message) : text(message.content)
}

function text(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined ? '' : JSON.stringify(value)
}

/** An excerpt shows this much, and this much of it before the first difference. */
const maxShownChars = 80
const charsBefore = 24

function differing(component: string, where: string, recorded: string, replayed: string): RequestDifference {
  let same = 0
  while (same < recorded.length && recorded[same] === replayed[same]) same++
  const from = Math.max(0, same - charsBefore)
  return {
    component,
    where,
    ...(recorded !== '' && { recorded: cut(recorded, from) }),
    ...(replayed !== '' && bothNames(cut(replayed, from))),
  }
}

function cut(whole: string, from = 0): string {
  const to = from + maxShownChars
  return `${from > 0 ? '…' : ''}${whole.slice(from, to).toWellFormed()}${to < whole.length ? '…' : ''}`
}

function bothNames(replayed: string): Pick<RequestDifference, 'replayed' | 'came'> {
  // oxlint-disable-next-line typescript/no-deprecated -- filled for one more version
  return { replayed, came: replayed }
}
