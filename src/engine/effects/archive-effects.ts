import { Ancestry } from '../../../components/sessions/ancestry.ts'
import { TranscriptWrite } from '../../../components/context/agent-transcript.ts'
import { Archival } from '../../../components/context/archival.ts'
import { ArchiveJob } from '../../../components/context/archive.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { HolderDraft } from '../../../components/context/holder.ts'
import type { Message } from '../../protocol/message.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import { countUpTo } from '../../rules/projection/places.ts'
import { thrownMessage } from '../../rules/text/thrown-message.ts'
import type { Entity } from '../../world/component.ts'
import type { Json } from '../../world/json.ts'
import type { World } from '../../world/world.ts'
import { headOf, holderLines, jobSummaryLine, writeLines } from './archive-lines.ts'
import type { EffectContext, EffectKind } from './effect-kind.ts'
import type { Children } from '../children/children.ts'
import { sessionKey, transcriptKey } from '../children/transcript-place.ts'
import { treeOf } from '../children/world-tree.ts'

/** Makes the World of a holder durable, which then rests. Made twice it is the same. */
export function holderEffect(children: Children): EffectKind {
  return {
    prepare(world, effect) {
      const { agent, llm, subagentId: sessionId, task } = world.read(effect, ArchiveJob)
      const parts = { archival: world.get(agent, Archival), llm, seed: sliceOf(world, effect), sessionId, task }
      const hold = async (): Promise<OutcomeData> => done(await children.worlds.hold(agent, parts))
      return (context) => locked(world, sessionId, context, hold)
    },
  }
}

/** Appends lines to transcripts: of a holder that is being made, of an agent. What is there is not written again. */
export function transcriptEffect(children: Children): EffectKind {
  return {
    prepare(world, effect) {
      const job = world.get(effect, ArchiveJob)
      const write = world.get(effect, TranscriptWrite)
      const { transcripts } = children
      const ofHolder = job && holderPart(world, effect)
      const ofAgent = write && { ...write, head: headOf(world, write), lines: writeLines(world, write) }
      const append = async (): Promise<OutcomeData> => {
        if (ofHolder !== undefined) await transcripts.append(ofHolder.key, ofHolder.lines, ofHolder.from)
        if (ofAgent === undefined) return done({ lines: 0 })
        const key = await transcriptKey(world, ofAgent.agent)
        return done({ lines: await transcripts.appendBehind(key, ofAgent) })
      }
      return job === undefined ? append : (context) => locked(world, job.subagentId, context, append)
    },
  }
}

/**
 * Removes the World and the transcript of a holder that is not to be. Tells what of them is left. A transcript that this
 * world has not written stays: ids repeat where a database was restored from a backup, or where two stores share a folder
 * of transcripts.
 */
export function holderRemovalEffect(children: Children): EffectKind {
  return {
    prepare(world, effect) {
      const { isWritten, sessionId } = world.read(effect, HolderDraft)
      const key = sessionKey(sessionId)
      const remove = async (): Promise<OutcomeData> => {
        const left: string[] = []
        let message: string | undefined
        const tryTo = async (what: string, removal: () => Promise<void>): Promise<void> => {
          try {
            await removal()
          } catch (error) {
            left.push(what)
            message ??= thrownMessage(error)
          }
        }
        await tryTo('world', () => children.worlds.remove(sessionId))
        if (isWritten === true || children.transcripts.hasWritten(key)) {
          await tryTo('transcript', () => children.transcripts.remove(key))
        }
        return done({ left, ...(message !== undefined && { message }) })
      }
      return (context) => locked(world, sessionId, context, remove)
    },
  }
}

/** Work about a holder, one at a time: what was called off may still be writing. */
async function locked(
  world: World,
  sessionId: string,
  context: EffectContext,
  work: () => Promise<OutcomeData>,
): Promise<OutcomeData> {
  const unlock = await context.wait(treeOf(world).lock(sessionId))
  try {
    if (!context.signal.aborted) return await work()
    return { ok: false, failure: { kind: 'cancelled', message: 'It was called off before it began.' } }
  } catch (error) {
    return { ok: false, failure: { kind: 'store-failed', message: thrownMessage(error) } }
  } finally {
    unlock()
  }
}

/** The turn that a job is about. */
function sliceOf(world: World, job: Entity): readonly Message[] {
  const { agent, fromSeq, toSeq } = world.read(job, ArchiveJob)
  const messages = world.read(agent, Conversation)
  return messages.slice(countUpTo(world, agent, fromSeq - 1), countUpTo(world, agent, toSeq))
}

/** What a job's step writes to the holder's transcript. */
function holderPart(world: World, job: Entity) {
  const data = world.read(job, ArchiveJob)
  const key = sessionKey(data.subagentId)
  const slice = sliceOf(world, job)
  const { agent } = data
  const above = world.get(agent, Ancestry)?.sessions ?? []
  const parent = above.at(-1)?.sessionId ?? world.name
  if (data.step === 'entries') {
    return { key, lines: holderLines(data, slice, { depth: above.length + 1, parent }), from: 0 }
  }
  return { key, lines: jobSummaryLine(data), from: slice.length + 1 }
}

function done(value: unknown): OutcomeData {
  return { ok: true, value: (value ?? null) as Json }
}
