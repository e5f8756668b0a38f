import { Boundary } from '../../components/context/boundary.ts'
import { Conversation } from '../../components/agent/conversation.ts'
import { Outcome } from '../../components/effects/effect.ts'
import { Handle, KeptBy } from '../../components/agent/handle.ts'
import { Policy } from '../../components/agent/policy.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import { ToolRegistry } from '../../components/agent/tool-registry.ts'
import { Turn } from '../../components/agent/turn.ts'
import {
  defaultRetrievedChars,
  Retrieval,
  WorkspaceEntry,
  type WorkspaceEntryData,
  WorkspaceState,
} from '../../components/agent/workspace-entry.ts'
import { FileFact } from '../../src/protocol/file-fact.ts'
import type { SystemMessage, UserMessage } from '../../src/protocol/message.ts'
import { countUpTo, seqAt } from '../../src/rules/projection/places.ts'
import { textOf } from '../../src/rules/projection/text-of.ts'
import { entriesOf } from '../../src/rules/workspace/entries-of.ts'
import { isEntered, provenanceOf, type SettledCall } from '../../src/rules/workspace/provenance.ts'
import { prunable } from '../../src/rules/workspace/pruning.ts'
import { retrieved, workspaceText } from '../../src/rules/workspace/retrieval.ts'
import { newlyStale, outdatedBy } from '../../src/rules/workspace/staleness.ts'
import { parsedAs, type DeepReadonly, type Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/** Most files that a tool may say something of. */
const maxFacts = 1_000
const none = { newest: 0, compared: 0, turns: 0 }

/**
 * Enters a call's result in the agent's workspace, while the call is still there.
 * @param text as the model reads it
 * @param seq of its message
 */
export function enterResult(world: World, agent: Entity, call: Entity, text: string, seq: number): void {
  const { arguments: given, name } = world.read(call, ToolCall)
  const declaration = world.get(agent, ToolRegistry)?.tools.find((tool) => tool.name === name)
  if (declaration === undefined || !isEntered(declaration, text)) return
  const { newest, ...state } = world.get(agent, WorkspaceState) ?? none
  const [base, files, kept] = [world.get(agent, Policy), filesOf(world, call), keptBy(world, call)]
  const number = newest + 1
  const provenance = provenanceOf({ declaration, arguments: given, text, base, files, kept }, state.turns)
  world.set(world.spawn(), WorkspaceEntry, {
    ...provenance,
    agent,
    number,
    seq,
    turn: state.turns,
    atMs: world.nowMs,
  })
  world.set(agent, WorkspaceState, { ...state, newest: number })
}

/** A call that failed leaves no entry. What it has changed until then counts all the same. */
export function noteChanges(world: World, agent: Entity, call: Entity): void {
  const changed = filesOf(world, call)
  if (changed.length > 0) markStale(world, agent, outdatedBy(entriesOf(world, agent), changed))
}

/** What a tool said of files. */
function filesOf(world: World, call: Entity): readonly FileFact[] {
  const outcome = world.get(call, Outcome)
  const value = outcome?.ok === true ? outcome.value : undefined
  const files = typeof value === 'object' && value !== null && 'files' in value ? value.files : undefined
  if (!Array.isArray(files)) return []
  return files.slice(0, maxFacts).flatMap((file) => parsedAs(FileFact(), file) ?? [])
}

function keptBy(world: World, call: Entity): SettledCall['kept'] {
  return world.referrers(KeptBy, call).flatMap((handle) => {
    const kept = world.get(handle, Handle)
    if (kept === undefined) return []
    const type = kept.kind ?? (kept.shape.startsWith('function') ? 'function' : 'object')
    return [{ number: kept.number, sizeBytes: kept.sizeBytes ?? 0, type }]
  })
}

/** What stands behind the message that opens a turn: the results that fit it and that the model does not see any more. */
export function beginTurn(world: World, agent: Entity, message: DeepReadonly<UserMessage>): SystemMessage | undefined {
  const retrieval = world.get(agent, Retrieval)
  if (retrieval === undefined || world.has(agent, Turn)) return undefined
  const state = world.get(agent, WorkspaceState) ?? none
  const turn = state.turns + 1
  world.set(agent, WorkspaceState, { ...state, turns: turn })
  compare(world, agent)
  prune(world, agent, turn)
  const { hasNewlyStale } = world.read(agent, WorkspaceState)
  if (hasNewlyStale === true) world.patch(agent, WorkspaceState, { hasNewlyStale: undefined })
  const entries = entriesOf(world, agent)
  const { maxChars = defaultRetrievedChars } = retrieval
  const isSeen = seenBy(world, agent)
  const chosen = retrieved(entries, { prompt: textOf(message), turn, maxChars, isSeen })
  if (entries.length === 0 || (chosen.length === 0 && hasNewlyStale !== true)) return undefined
  // It becomes the message behind the one that is about to be added.
  const shownSeq = seqAt(world, agent, world.read(agent, Conversation).length + 1)
  patchEntries(world, agent, new Set(chosen), { shownSeq })
  return { role: 'system', content: [{ type: 'text', text: workspaceText(entries, chosen) }] }
}

/** Compares what is new with what was there. */
function compare(world: World, agent: Entity): void {
  const { compared, newest } = world.read(agent, WorkspaceState)
  if (compared === newest) return
  markStale(world, agent, newlyStale(entriesOf(world, agent), compared))
  world.patch(agent, WorkspaceState, { compared: newest })
}

function markStale(world: World, agent: Entity, stale: ReadonlySet<WorkspaceEntryData>): void {
  if (stale.size === 0) return
  patchEntries(world, agent, stale, { isStale: true })
  world.patch(agent, WorkspaceState, { hasNewlyStale: true })
}

function patchEntries(
  world: World,
  agent: Entity,
  entries: ReadonlySet<WorkspaceEntryData>,
  change: Partial<WorkspaceEntryData>,
): void {
  if (entries.size === 0) return
  for (const entity of world.referrers(WorkspaceEntry, agent)) {
    if (entries.has(world.read(entity, WorkspaceEntry))) world.patch(entity, WorkspaceEntry, change)
  }
}

/** The values of an entry that goes go with it. */
function prune(world: World, agent: Entity, turn: number): void {
  const gone = new Set(prunable(entriesOf(world, agent), turn))
  if (gone.size === 0) return
  const numbers = new Set([...gone].flatMap(({ handles = [] }) => handles))
  for (const entity of world.referrers(WorkspaceEntry, agent).slice()) {
    if (gone.has(world.read(entity, WorkspaceEntry))) world.despawn(entity)
  }
  for (const handle of world.referrers(Handle, agent).slice()) {
    if (numbers.has(world.read(handle, Handle).number)) world.despawn(handle)
  }
}

/** Is an entry's message in the request: neither behind a summary nor moved to a holder? */
function seenBy(world: World, agent: Entity): (entry: WorkspaceEntryData) => boolean {
  const boundary = world.get(agent, Boundary)?.at(-1)?.seq ?? 0
  return ({ seq: own, shownSeq: seq = own }) => {
    if (seq <= boundary) return false
    const index = countUpTo(world, agent, seq) - 1
    return index >= 0 && seqAt(world, agent, index) === seq
  }
}

/** Forgets the results of messages from a `seq` on. What they have made stale stays so: files may be as they left them. */
export function forgetEntries(world: World, agent: Entity, fromSeq: number): void {
  if (!world.has(agent, WorkspaceState)) return
  compare(world, agent)
  for (const entity of world.referrers(WorkspaceEntry, agent).slice()) {
    const { seq, shownSeq = 0 } = world.read(entity, WorkspaceEntry)
    if (seq >= fromSeq) world.despawn(entity)
    else if (shownSeq >= fromSeq) world.patch(entity, WorkspaceEntry, { shownSeq: undefined })
  }
}
