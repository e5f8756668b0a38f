import { Answering } from '../../components/session-call.ts'
import type { OutcomeData } from '../../components/outcome.ts'
import type { Json } from '../world/json.ts'
import type { EffectKind } from './effect-kind.ts'
import { lostResult } from './session-records.ts'
import { summaryPathOf } from '../subagents/artifact-id.ts'
import { maxInlineBytes } from '../subagents/session-outcome.ts'
import type { SessionSlot } from './session-slot.ts'
import type { Sessions } from './sessions.ts'

/** Texts that are read back from the records, a part of at most so many bytes. */
export function recordEffect(sessions: Sessions): EffectKind {
  return {
    prepare(world, effect) {
      const { wants } = world.read(effect, Answering)
      if (!('recordPath' in wants)) return undefined
      const { offset, part, recordPath } = wants
      const key = part === 'full' ? recordPath : summaryPathOf(recordPath)
      return async () => {
        const found = await sessions.records.get(key, { offset, maxBytes: maxInlineBytes })
        if (found !== undefined) return done({ text: found.text, nextOffset: found.nextOffset })
        return done({ problem: lostResult(sessions.resultBytes(recordPath), sessions.maxKeptBytes) })
      }
    },
  }
}

/** Places in the queue, asked of the pool so that a replay needs none. */
export function queuePositionEffect(sessions: Sessions): EffectKind {
  return {
    isWaiting: true,
    prepare(world, effect) {
      const { wants } = world.read(effect, Answering)
      if (!('queuePositionOf' in wants)) return undefined
      const { queuePositionOf } = wants
      return () => Promise.resolve(done(sessions.queuePosition(queuePositionOf) ?? null))
    },
  }
}

/** A slot for the agent of a session's World, which gave its own back. */
export function slotEffect(slot: SessionSlot | undefined): EffectKind {
  return {
    isWaiting: true,
    prepare: () => async (context) => {
      await context.wait(slot?.enter('return') ?? Promise.resolve(true))
      return done(null)
    },
  }
}

function done(value: Json): OutcomeData {
  return { ok: true, value }
}
