import type { WorldInfo } from '../../stores/port.ts'
import { cutText } from '../../base/cut-text.ts'
import { formatUsd, toNanoUsd } from '../../rules/money/usd.ts'
import { defaultLimits } from '../../../components/agent/turn.ts'
import { cleanName, plainText } from '../../tools/files/clean-text.ts'
import { messageText } from '../message-text.ts'
import { tableLines } from '../table-lines.ts'
import { many } from '../terminal/amounts.ts'
import { stateText } from './list-worlds.ts'
import type { AgentView, EffectView, SessionView, StoredView, TickView } from './stored-view.ts'
import { ageText, dateText, distanceText, ownerText, sizeText, type WorldsOutput } from './world-lines.ts'

/** `--json` prints everything in full. */
const maxMessageChars = 600
const maxMessageLines = 12
const maxWhatChars = 160
const maxEndedSessions = 5
const maxTicks = 5

/** What is known without restoring it: who drives it, what it waits for, how old and how large it is. */
export function headLines(info: WorldInfo, view: StoredView | undefined, { look, nowMs }: WorldsOutput): string[] {
  const { heldBy, letters, name, quarantine, root, sizeBytes, wakeAtMs } = info
  const state = stateText(info)
  const below = root === undefined ? '' : look.paint('dim', `  of ${cleanName(root)}`)
  const driven = heldBy === undefined ? 'No one drives it' : `Driven by ${ownerText(heldBy, nowMs)}`
  const waiting = [
    ...(letters === undefined ? [] : [`${many(letters, 'letter')} waiting`]),
    ...(wakeAtMs === undefined
      ? []
      : [wakeAtMs === 0 ? 'due at once' : `due ${distanceText(wakeAtMs, nowMs)} (${dateText(wakeAtMs)})`]),
  ]
  const explained = state === 'stalled' ? 'stalled: it has work in flight, and goes on once a program opens it' : state
  const isBad = state === 'unreadable' || state === 'stalled' || state === 'quarantine'
  return [
    `${look.paint('bold', cleanName(name))}  ${explained === '' ? '' : look.paint(isBad ? 'yellow' : 'green', explained)}${below}`,
    `  ${[driven, ...waiting].join(' · ')}`,
    ...(quarantine === undefined ? [] : [look.paint('yellow', `  ${plainText(quarantine)}`)]),
    ...(view === undefined ? [] : [`  ${tickText(view, nowMs)} · ${sizeText(sizeBytes ?? 0)}`]),
  ]
}

function tickText({ rows, snapshotTick, tick, tickAtMs, version }: StoredView, nowMs: number): string {
  const kept =
    rows === 0
      ? `a snapshot of tick ${snapshotTick}`
      : `a snapshot of tick ${snapshotTick} and ${many(rows, 'tick')} behind it`
  const by = version === undefined ? '' : ` by entia ${cleanName(version)}`
  return `Tick ${tick} at ${dateText(tickAtMs)} (${distanceText(tickAtMs, nowMs)}) · ${kept}${by}`
}

interface ViewLinesOptions {
  /** All ticks that were read, and not the newest alone. */
  readonly hasAllTicks: boolean
  readonly isHeld: boolean
}

export function viewLines(view: StoredView, options: ViewLinesOptions, out: WorldsOutput): string[] {
  // Time stands still in a world that nobody drives: there, work is as old as it was then.
  const nowMs = options.isHeld ? out.nowMs : view.tickAtMs
  const here = { ...out, nowMs }
  const known = new Set(view.agents.map(({ entity }) => entity))
  const working = view.effects.filter(({ kind }) => kind !== 'session')
  const others = working.filter(({ agent }) => agent === undefined || !known.has(agent))
  const { look } = out
  const title = (text: string): string[] => ['', look.paint('bold', text)]
  const agents = view.agents.flatMap((agent) => {
    const own = working.filter((effect) => effect.agent === agent.entity)
    return [
      '',
      ...agentLines(agent, here),
      ...own.map((effect) => effectLine(effect, here)),
      ...messageLines(agent, here),
    ]
  })
  const ticks = options.hasAllTicks ? view.ticks : view.ticks.slice(-maxTicks)
  return [
    ...(view.agents.length === 0 ? ['', 'It has no agents.'] : agents),
    ...(others.length === 0
      ? []
      : [...title('In flight besides'), ...others.map((effect) => effectLine(effect, here))]),
    ...(view.sessions.length === 0 ? [] : [...title('Sessions'), ...sessionLines(view.sessions, here)]),
    ...(ticks.length === 0 ? [] : [...title(options.hasAllTicks ? 'Ticks' : 'Newest ticks'), ...tickLines(ticks)]),
    ...ownLines(view.own, title),
  ]
}

function agentLines(agent: AgentView, { look, nowMs }: WorldsOutput): string[] {
  const { entity, held, lastTurn, maxSteps = defaultLimits.maxSteps, messages, model, turn } = agent
  const state =
    turn !== undefined
      ? look.paint(
          'yellow',
          `turn under way for ${ageText(nowMs - turn.startedAtMs)}: step ${turn.steps} of ${maxSteps}, ${many(turn.toolCalls, 'tool call')}`,
        )
      : lastTurn === undefined
        ? 'has had no turn'
        : `${look.paint(lastTurn.stop === 'done' ? 'green' : 'red', `last turn: ${lastTurn.stop}`)} after ${many(lastTurn.steps, 'step')}, at ${dateText(lastTurn.endedAtMs)}`
  const failure = turn === undefined ? lastTurn?.failure : undefined
  const spent = spentText(agent)
  return [
    `${look.paint('bold', `Agent ${entity}`)} · ${cleanName(model)} · ${state}`,
    ...(held === undefined ? [] : [look.paint('yellow', `  ${cleanName(held)}`)]),
    ...(failure === undefined ? [] : [look.paint('red', `  ${failure.kind}: ${cleanName(failure.message)}`)]),
    `  ${[many(messages, 'message'), ...(spent === undefined ? [] : [spent])].join(' · ')}`,
  ]
}

function spentText(view: AgentView): string | undefined {
  const { maxSpentUsd, maxTurnUsd, spentUsd, turnUsd, unknownCalls = 0, unpricedCalls = 0 } = view
  if (spentUsd === undefined) return maxSpentUsd === undefined ? undefined : `may spend ${usd(maxSpentUsd)}`
  const of = (limit: number | undefined): string => (limit === undefined ? '' : ` of ${usd(limit)}`)
  const turn = turnUsd === undefined ? '' : `, ${usd(turnUsd)}${of(maxTurnUsd)} in this turn`
  const unpriced = unpricedCalls === 0 ? '' : `, and ${many(unpricedCalls, 'call')} without a price`
  const cut = unknownCalls - unpricedCalls
  const unknown = cut <= 0 ? '' : `, and ${many(cut, 'call')} of unknown cost`
  return `spent ${usd(spentUsd)}${of(maxSpentUsd)}${turn}${unpriced}${unknown}`
}

function usd(amount: number): string {
  return formatUsd(toNanoUsd(amount), amount >= 1 ? 2 : 4)
}

function effectLine(
  { atMs, attempt, deadlineAtMs, kind, state, what }: EffectView,
  { look, nowMs }: WorldsOutput,
): string {
  const since =
    state === 'pending' || atMs === undefined
      ? 'has not begun'
      : state === 'due'
        ? `tried again ${distanceText(atMs, nowMs)}`
        : `${kind === 'approval' ? 'waits for an answer' : 'running'} for ${ageText(nowMs - atMs)}`
  const deadline = deadlineAtMs === undefined ? '' : `, until ${dateText(deadlineAtMs)}`
  const again = attempt > 1 ? `, attempt ${attempt}` : ''
  const shown = cutText(cleanName(what), maxWhatChars, '…')
  return `  ${look.paint('cyan', kind)}${shown === '' ? '' : ` ${shown}`}  ${since}${again}${deadline}`
}

function messageLines({ lastMessages, messages }: AgentView, { look }: WorldsOutput): string[] {
  const shown = lastMessages.flatMap((message) => {
    const text = messageText(message)
    return text === '' ? [] : [brief(text)]
  })
  if (shown.length === 0) return []
  const before = messages - lastMessages.length
  const left = before === 0 ? [] : [look.paint('dim', `  … ${many(before, 'earlier message')}`)]
  return ['', ...left, ...shown.flatMap((text) => text.split('\n').map((line) => `  ${line}`))]
}

function brief(text: string): string {
  const lines = cutText(text, maxMessageChars, '…').split('\n')
  return lines.length <= maxMessageLines ? lines.join('\n') : `${lines.slice(0, maxMessageLines).join('\n')}\n…`
}

const ended = new Set(['succeeded', 'failed', 'timed_out', 'cancelled'])

/** Those that are not over first; of the others the latest. */
function sessionLines(sessions: readonly SessionView[], { look, nowMs }: WorldsOutput): string[] {
  const active = sessions.filter(({ status }) => !ended.has(status))
  const over = sessions.filter(({ status }) => ended.has(status))
  const latest = over.toSorted((a, b) => (b.finishedAtMs ?? 0) - (a.finishedAtMs ?? 0)).slice(0, maxEndedSessions)
  const shown = [...active, ...latest]
  const lines = tableLines(
    shown.map(({ category, createdAtMs, error, finishedAtMs, model, prompt, sessionId, startedAtMs, status }) => [
      `  ${sessionId}`,
      status,
      finishedAtMs === undefined
        ? ageText(nowMs - (startedAtMs ?? createdAtMs))
        : ageText(finishedAtMs - (startedAtMs ?? createdAtMs)),
      category,
      model,
      cutText(error ?? prompt, 80, '…'),
    ]),
  ).map((line, at) => (['failed', 'timed_out'].includes(shown[at]?.status ?? '') ? look.paint('red', line) : line))
  const left = over.length - latest.length
  return left === 0 ? lines : [...lines, look.paint('dim', `  … ${many(left, 'more ended session')}: --json has all`)]
}

function tickLines(ticks: readonly TickView[]): string[] {
  return tableLines(
    ticks.map(({ atMs, events, inputs, tick }) => [
      `  ${tick}`,
      dateText(atMs),
      inputs.length === 0 ? '-' : inputs.join(', '),
      events.length === 0 ? '' : `→ ${events.join(', ')}`,
    ]),
  )
}

function ownLines(own: StoredView['own'], title: (text: string) => string[]): string[] {
  const entries = Object.entries(own)
  if (entries.length === 0) return []
  const lines = entries.map(([name, values]) => {
    const [entity = '', ...more] = Object.keys(values)
    const others = more.length === 0 ? '' : `, and ${many(more.length, 'more')}`.replace(/mores$/, 'more')
    const shown = cleanName(name)
    if (entity === '') return `  ${shown}`
    return `  ${shown}  entity ${entity}: ${cutText(cleanName(JSON.stringify(values[Number(entity)])), maxWhatChars, '…')}${others}`
  })
  return [...title('Components that this command does not know, as they are stored'), ...lines]
}
