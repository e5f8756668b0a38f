import { Archive, ArchiveJob, type ArchiveJobData } from '../../../components/context/archive.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import type { Message } from '../../protocol/message.ts'
import { Ancestry } from '../../../components/sessions/ancestry.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Law, WatchedTick } from '../law.ts'
import { firstFinding } from './first-finding.ts'
import { countUpTo } from './message-places.ts'
import { sameJson } from './same-json.ts'

interface Turns {
  /** Turns being moved to holders, by holder id, as they were when the move began. */
  readonly open: Map<string, OpenTurn>
  readonly collapsed: Set<string>
  readonly entries: Map<Entity, number>
}

interface OpenTurn extends Pick<ArchiveJobData, 'agent' | 'fromSeq' | 'toSeq'> {
  readonly messages: readonly Message[]
}

export const archivedTurnsKept: Law = {
  concern: { set: [Archive, ArchiveJob, Conversation], appended: [Archive], spliced: [Conversation] },
  name: 'archived-turns-kept',
  meaning: 'Each message of an archived turn is with its agent or with its holder, and a turn collapses at most once.',
  watch() {
    const worlds = new Map<string, Turns>()
    const held = new Map<string, readonly Message[]>()
    return {
      held(holder) {
        const [agent] = holder.entitiesWith(Ancestry)
        held.set(holder.name, agent === undefined ? [] : [...(holder.get(agent, Conversation) ?? [])])
        return undefined
      },
      began({ label, world }) {
        const turns: Turns = { open: worlds.get(label)?.open ?? new Map(), collapsed: new Set(), entries: new Map() }
        worlds.set(label, turns)
        for (const job of world.entitiesWith(ArchiveJob)) note(world, turns, world.read(job, ArchiveJob))
        for (const agent of world.entitiesWith(Archive)) {
          turns.entries.set(agent, world.read(agent, Archive).length)
          for (const { status, subagentId } of world.read(agent, Archive)) {
            if (status === 'archived') turns.collapsed.add(subagentId)
          }
        }
      },
      ticked(tick) {
        const turns = worlds.get(tick.label)
        return turns && (collapses(tick, turns, held) ?? edits(tick, turns))
      },
    }
  },
}

function note(world: World, { open }: Turns, { agent, fromSeq, subagentId, toSeq }: ArchiveJobData): void {
  if (open.has(subagentId)) return
  open.set(subagentId, { agent, fromSeq, toSeq, messages: turnOf(world, { agent, fromSeq, toSeq }) })
}

function turnOf(world: World, { agent, fromSeq, toSeq }: Omit<OpenTurn, 'messages'>): readonly Message[] {
  const messages = world.get(agent, Conversation) ?? []
  return messages.slice(countUpTo(world, agent, fromSeq - 1), countUpTo(world, agent, toSeq))
}

function collapses(
  { changes, world }: WatchedTick,
  turns: Turns,
  held: ReadonlyMap<string, readonly Message[]>,
): Finding {
  const { appended, set } = changes.ofLog(Archive)
  return firstFinding([...appended, ...set], ([agent]) => {
    const entries = world.get(agent, Archive) ?? []
    const known = turns.entries.get(agent) ?? 0
    turns.entries.set(agent, entries.length)
    return firstFinding(entries.slice(known), (entry) => collapsed(world, turns, entry, held))
  })
}

function collapsed(
  world: World,
  turns: Turns,
  { status, subagentId }: { readonly status: string; readonly subagentId: string },
  held: ReadonlyMap<string, readonly Message[]>,
): Finding {
  const turn = turns.open.get(subagentId)
  turns.open.delete(subagentId)
  if (status !== 'archived') return undefined
  if (turns.collapsed.has(subagentId)) return `the turn of holder ${subagentId} is archived a second time`
  turns.collapsed.add(subagentId)
  if (turn === undefined) return `a turn is archived that was on its way to no holder: ${subagentId}`
  return misplaced(world, turn, subagentId, held.get(subagentId))
}

function misplaced(world: World, turn: OpenTurn, subagentId: string, held: readonly Message[] | undefined): Finding {
  if (held === undefined) return `the turn of holder ${subagentId} is archived, and there is no such holder`
  if (!sameJson(held, turn.messages)) return `holder ${subagentId} does not hold the turn as it was`
  const [opening, placeholder, ...more] = turnOf(world, turn)
  if (!sameJson(opening, turn.messages[0]))
    return `the message that opened the turn of holder ${subagentId} has changed`
  const begin = `[archived turn]\nsubagent_id: ${subagentId}\n\n`
  if (more.length > 0 || placeholder?.role !== 'assistant' || !textIn(placeholder).startsWith(begin)) {
    return `what stays of the turn of holder ${subagentId} is not one text that names it`
  }
  return undefined
}

function textIn({ content }: Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

function edits({ changes, world }: WatchedTick, turns: Turns): Finding {
  for (const [, job] of changes.of(ArchiveJob).set) note(world, turns, job)
  const { set, spliced } = changes.ofLog(Conversation)
  if (turns.open.size === 0 || (set.length === 0 && spliced.length === 0)) return undefined
  const touched = new Set([...set, ...spliced].map(([agent]) => agent))
  for (const [subagentId, turn] of turns.open) {
    if (!touched.has(turn.agent) || sameJson(turnOf(world, turn), turn.messages)) continue
    return `the turn that is on its way to holder ${subagentId} has changed`
  }
  return undefined
}
