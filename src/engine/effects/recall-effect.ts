import { AgentTranscript } from '../../../components/context/agent-transcript.ts'
import { Archive } from '../../../components/context/archive.ts'
import { Boundary } from '../../../components/context/boundary.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import { ToolCall } from '../../../components/agent/tool-call.ts'
import { messageText } from '../../rules/context/render-transcript.ts'
import { messageLine, messageOf } from '../../rules/context/transcript-lines.ts'
import { type PlacedMessage, placedMessages } from '../../rules/projection/places.ts'
import { memoryStore } from '../../stores/memory.ts'
import type { TranscriptHit } from '../../stores/port.ts'
import { cutText } from '../../rules/text/cut-text.ts'
import type { Entity } from '../../world/component.ts'
import type { Json } from '../../world/json.ts'
import type { World } from '../../world/world.ts'
import type { EffectKind } from './effect-kind.ts'
import type { Children } from '../children/children.ts'
import { transcriptKey } from '../children/world-tree.ts'

const maxMessages = 10
const maxChars = 1_000
/** Most lines found, before those that the agent still sees are dropped. */
const maxHits = 500
/** A scratch place to search messages that are in no transcript yet. */
const place = { root: 'unwritten', key: 'unwritten.jsonl' } as const

/** Searches an agent's transcript for messages that it no longer sees. */
export function recallEffect(children: Children): EffectKind {
  return {
    prepare(world, effect) {
      const { agent } = world.read(effect, OwnedBy)
      const { query } = world.read(effect, ToolCall).arguments
      const isFolded = foldedOf(world, agent)
      const unwritten = unwrittenOf(world, agent)
      return async () => {
        const words = typeof query === 'string' ? query : ''
        const hits = await children.transcripts.search(await transcriptKey(world, agent), words, maxHits)
        const lines = [...hits, ...(await searched(unwritten, words))]
        const found = lines.flatMap(({ text }) => messageOf(text) ?? []).filter(({ seq }) => isFolded(seq))
        const unlike = [...new Map(found.map((one) => [one.seq, one])).values()]
        const messages = unlike.slice(0, maxMessages).map(({ seq, message }) => {
          return { seq, role: message.role, text: cutText(messageText(message), maxChars) }
        })
        return textResult(
          messages.length === 0 ? 'No earlier message has a word of the query.' : JSON.stringify(messages),
        )
      }
    },
  }
}

/** Messages behind a boundary that are not in the transcript yet, or that the disk had no room for. */
function unwrittenOf(world: World, agent: Entity): readonly PlacedMessage[] {
  const covered = world.get(agent, Boundary)?.at(-1)?.seq ?? 0
  const written = world.get(agent, AgentTranscript)?.seq ?? 0
  return covered > written ? placedMessages(world, agent, written, covered) : []
}

async function searched(messages: readonly PlacedMessage[], words: string): Promise<readonly TranscriptHit[]> {
  if (messages.length === 0) return []
  const store = memoryStore()
  const lines = messages.map((placed) => messageLine(placed, 0))
  await store.appendTranscript(place.root, place.key, lines, { from: 0 })
  return store.searchTranscript(place.root, [place.key], words, { limit: maxHits })
}

function foldedOf(world: World, agent: Entity): (seq: number) => boolean {
  const covered = world.get(agent, Boundary)?.at(-1)?.seq ?? 0
  const archived = (world.get(agent, Archive) ?? []).filter(({ status }) => status === 'archived')
  return (seq) => seq <= covered || archived.some(({ fromSeq, toSeq }) => fromSeq < seq && seq <= toSeq)
}

function textResult(text: string): OutcomeData {
  return { ok: true, value: { content: [{ type: 'text', text }] } as Json }
}
