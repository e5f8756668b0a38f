import { z } from 'zod'
import type { DataOf } from '../../world/component.ts'
import { lazily } from '../../base/lazily.ts'
import { approvalOf, approvals, dataClasses } from '../../protocol/policy.ts'
import type { Approval, Channel, DataClass, Decision, Operation, PolicyConfig, Reach } from '../../protocol/policy.ts'
import { bodyOf, checkCall, policyDefaults, type PolicyCall } from './call.ts'
import { PlacesOfCall, type TouchedPath } from './call-places.ts'
import { covers, rulesOf } from './remembered.ts'
import { commandStart } from './simple-command.ts'

/** A decision, and what it was made of. */
export interface Assessment {
  readonly decision: Decision
  readonly dataClass: DataClass
  readonly operation: Operation
  /** Its path arguments, as given. */
  readonly paths: readonly string[]
  /** Only a person's answer to this one call lets it run: no remembered and no automatic approval. */
  readonly onlyAPerson: boolean
  /** A rule of the config covers it: nothing asks about it that a person's answer could be remembered for. */
  readonly isCovered: boolean
  /** An approval may be remembered for the chat session, and one that is may cover the call. */
  readonly mayRemember: boolean
  /** Where what it touches lies. */
  readonly reach: readonly Reach[]
  /** Where all lies that the words of its command name. */
  readonly commandReach: readonly Reach[] | undefined
  /** Where path arguments lead that are links. */
  readonly leadsTo: Readonly<Record<string, string>> | undefined
  /** It touches personal or credential data, so the chat session is marked, even when the call is denied. */
  readonly marksSession: boolean
  /** It reads data of class `other`, after which tools that reach out ask. */
  readonly readsOther: boolean
  /** The command that `remember: 'command'` covers. */
  readonly commandStart: string | undefined
}

/**
 * Decides about a call. A function of its arguments: `inspectCall` gathers what is on the disk.
 *
 * @throws `invalid-argument`
 */
export function policy(call: PolicyCall, config?: PolicyConfig): Decision {
  checkCall('policy', call, config)
  return assess(call, config).decision
}

/** Decides about a call, and says what the decision rests on. */
export function assess(call: PolicyCall, config?: PolicyConfig): Assessment {
  const places = new PlacesOfCall(call, config)
  const operation = call.facts?.runsPrograms === true ? 'exec' : (call.declared?.operation ?? 'unknown')
  const credential = places.credential()
  const ownClass = credential === undefined ? classOf(call, operation, places) : 'credential'
  const dataClass = call.sticky === true ? stricterClass(ownClass, 'personal') : ownClass
  const firm = firmVerdicts(call, config, { operation, places, credential })
  const waivable = waivableVerdicts(call, { operation, dataClass, places })
  const answer = hostVerdict(call)
  const strictest = strictestOf([...firm, ...waivable.opaque, answer?.verdict ?? waivable.table])
  const isOpaque = places.opaque() !== undefined
  const reach = places.reach()
  const mayRemember = !isPrivate(dataClass) && !isOpaque && reach !== undefined && !leavesSandbox(call)
  const start = mayRemember ? startOf(call) : undefined
  const remembered = {
    mayRemember,
    reach: isCautious(call) ? [...(reach ?? []), 'other' as const] : (reach ?? []),
    commandReach: start === undefined ? undefined : places.reachOfWords(),
    commandStart: start,
  }
  const hostAllows = answer === undefined || answer.verdict.approval === 'allow'
  const isCovered =
    mayRemember && hostAllows && covers(rulesOf(call.tool, config ?? {}, call), { ...remembered, tool: call.tool })
  const tuned = tune(strictest, {
    tool: call.tool,
    config,
    isCovered,
    isHeldIn: isHeldIn(call),
    mayLower: strictest.approval === 'ask' && firm.length === 0 && !isPrivate(dataClass) && hostAllows,
  })
  const links = places.links()
  const model = isPrivate(dataClass) || answer?.model === 'local' ? 'local' : 'cloud'
  return {
    decision: { model, ...routed(tuned, model, config) },
    dataClass,
    operation,
    paths: places.given,
    onlyAPerson: credential !== undefined || leavesSandbox(call),
    isCovered,
    ...remembered,
    leadsTo: Object.keys(links).length === 0 ? undefined : links,
    marksSession: isPrivate(dataClass),
    readsOther: (ownClass === 'other' && operation !== 'write') || places.readsOther(),
  }
}

/** On these channels it is the user who asks. */
function isHeldIn({ channel, facts }: PolicyCall): boolean {
  return facts?.sandbox === 'inside' && (channel === 'cli' || channel === 'console')
}

function leavesSandbox({ facts }: PolicyCall): boolean {
  return facts?.sandbox === 'outside'
}

function startOf({ facts }: PolicyCall): string | undefined {
  return commandStart(facts?.shell?.command ?? [])
}

interface Verdict {
  readonly approval: Approval
  readonly reason: string
}

/** The strictest; of equal ones the first, which names the reason. */
function strictestOf(verdicts: readonly Verdict[]): Verdict {
  return verdicts.reduce((best, next) =>
    approvals.indexOf(next.approval) > approvals.indexOf(best.approval) ? next : best,
  )
}

function stricterClass(one: DataClass, other: DataClass): DataClass {
  return dataClasses.indexOf(other) < dataClasses.indexOf(one) ? other : one
}

function isPrivate(dataClass: DataClass): boolean {
  return dataClass === 'credential' || dataClass === 'personal'
}

/** The strictest class of what a call touches; without a path, that of the working folder, or `public` for what only reads the web. */
function classOf(call: PolicyCall, operation: Operation, places: PlacesOfCall): DataClass {
  const { category } = call.declared ?? {}
  const isLocal =
    operation === 'exec' || operation === 'write' || ['file', 'git', 'code', 'js'].includes(category ?? '')
  const ofPaths = places.classes()
  if (places.given.length === 0) ofPaths.push(isLocal || bodyOf(call) !== undefined ? places.classOfCwd() : 'public')
  const strictest = ofPaths.reduce(stricterClass)
  return isCautious(call) ? stricterClass(strictest, 'other') : strictest
}

/** It may carry away what was read elsewhere. */
function isCautious({ hasReadOther, tool }: PolicyCall): boolean {
  return hasReadOther === true && (tool === 'fetch_url' || tool === 'web_search')
}

interface Judged {
  readonly operation: Operation
  readonly places: PlacesOfCall
}

/** Steps 1 to 3: no config lowers what they say. */
function firmVerdicts(
  call: PolicyCall,
  config: PolicyConfig | undefined,
  { operation, places, credential }: Judged & { readonly credential: TouchedPath | undefined },
): readonly Verdict[] {
  const verdicts: Verdict[] = []
  if (credential !== undefined)
    verdicts.push({
      approval: call.channel === 'matrix' || call.channel === 'mcp' ? 'deny' : 'ask',
      reason: `credential path: ${shown(credential)}`,
    })
  if (leavesSandbox(call)) verdicts.push({ approval: 'ask', reason: 'outside of the sandbox' })
  if (call.planMode === true && operation !== 'read') verdicts.push({ approval: 'deny', reason: 'plan mode' })
  const denied = places.denied()
  if (denied !== undefined) verdicts.push({ approval: 'deny', reason: `denied path: ${denied}` })
  const outside = places.outsideAllowed()
  if (outside !== undefined) verdicts.push({ approval: 'deny', reason: `outside the allowed paths: ${shown(outside)}` })
  const beyond = call.channel === 'mcp' ? places.outsideCwd() : undefined
  if (beyond !== undefined) verdicts.push({ approval: 'deny', reason: `outside the working folder: ${shown(beyond)}` })
  return verdicts
}

/** Steps 4 and 6: a tool's own permission can lower them. */
function waivableVerdicts(
  call: PolicyCall,
  { operation, dataClass, places }: Judged & { readonly dataClass: DataClass },
) {
  // What cannot be read is held in all the same.
  const part = isHeldIn(call) ? undefined : places.opaque()
  const opaque: Verdict[] = part === undefined ? [] : [{ approval: 'ask', reason: `opaque command: ${shown(part)}` }]
  if (isHeldIn(call) && !isPrivate(dataClass)) {
    return { opaque, table: { approval: 'allow' as const, reason: 'in the sandbox' } }
  }
  const table = isCautious(call) && dataClass === 'other' ? 'ask' : tableVerdict(dataClass, operation, call.channel)
  return { opaque, table: { approval: table, reason: `default: ${dataClass}/${operation}/${call.channel}` } }
}

/** Verdicts on cli, console and matrix, of reads and of writes and runs. */
const table: Readonly<Record<Exclude<DataClass, 'credential'>, readonly [reads: string, changes: string]>> = {
  personal: ['ask ask ask', 'ask ask deny'],
  other: ['allow allow ask', 'ask ask deny'],
  code: ['allow allow allow', 'ask allow ask'],
  public: ['allow allow allow', 'ask ask ask'],
}

/** A client of the MCP server is judged as on cli, besides what is denied to it in any case. */
const columns: Readonly<Record<Channel, number>> = { cli: 0, console: 1, matrix: 2, mcp: 0 }

function tableVerdict(dataClass: DataClass, operation: Operation, channel: Channel): Approval {
  if (operation === 'unknown') return 'ask'
  const row = table[dataClass === 'credential' ? 'personal' : dataClass][operation === 'read' ? 0 : 1]
  return row.split(' ')[columns[channel]] as Approval
}

/** What the Host's policy function answers. */
export const HostAnswer = lazily(() =>
  z.strictObject({
    approval: z.enum(approvals),
    model: z.enum(['cloud', 'local']).optional(),
    reason: z.string().optional(),
  }),
)
export type HostAnswer = DataOf<typeof HostAnswer>

/** Step 5: what the Host's policy function says instead of the table, if it says anything. */
function hostVerdict({ hostAnswer }: PolicyCall) {
  if (hostAnswer === undefined) return undefined
  const checked = HostAnswer().safeParse(hostAnswer)
  if (!checked.success) return { verdict: { approval: 'ask' as const, reason: 'policy function failed' } }
  const { approval, model, reason = 'policy function' } = checked.data
  return { verdict: { approval, reason }, model }
}

/** Step 7: what a config says of the tool. */
function tune(
  verdict: Verdict,
  {
    tool,
    config,
    isCovered,
    isHeldIn: isHeld,
    mayLower,
  }: { tool: string; config: PolicyConfig | undefined; isCovered: boolean; isHeldIn: boolean; mayLower: boolean },
): Verdict {
  if (config === undefined) return verdict
  const configured = { reason: `configured: ${tool}` }
  const permissions = config.permissions ?? {}
  const entry = Object.hasOwn(permissions, tool) ? permissions[tool] : undefined
  const own = entry === undefined ? undefined : approvalOf(entry)
  if (own === 'allow') return mayLower ? { approval: 'allow', ...configured } : verdict
  const isDangerous = (config.dangerousTools ?? policyDefaults.dangerousTools).includes(tool)
  const mode = config.approvalMode ?? policyDefaults.approvalMode
  // What only wants a question is answered by the sandbox.
  const isAnswered = !isDangerous || (isHeld && mode === 'ask')
  const atLeast = own ?? (isAnswered ? undefined : mode)
  const tuned = atLeast === undefined ? verdict : strictestOf([verdict, { approval: atLeast, ...configured }])
  return tuned.approval === 'ask' && isCovered ? { approval: 'allow', ...configured } : tuned
}

/** Denies a call whose data may go to a local model only, where there is none. */
function routed(verdict: Verdict, model: Decision['model'], config: PolicyConfig | undefined): Verdict {
  const isMissing = model === 'local' && config?.routing === 'enforce' && config.localModel === undefined
  const refusal = { approval: 'deny', reason: 'personal data needs a local model and none is configured' } as const
  return isMissing ? strictestOf([verdict, refusal]) : verdict
}

/** Most characters of a path or a command that a reason repeats. */
const maxShownChars = 200

function shown(part: TouchedPath | string): string {
  const text = typeof part === 'string' ? part : part.given
  return text.length <= maxShownChars ? text : `${text.slice(0, maxShownChars - 1)}…`
}
