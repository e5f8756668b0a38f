import { Archive } from '../../components/archive.ts'
import { Boundary } from '../../components/boundary.ts'
import type { OutcomeData } from '../../components/outcome.ts'
import { OwnedBy } from '../../components/owned-by.ts'
import { ToolCall } from '../../components/tool-call.ts'
import { renderTranscript } from '../context/render-transcript.ts'
import { messageOf } from '../context/transcript-lines.ts'
import { cutText } from '../tools/cut-text.ts'
import type { Entity } from '../world/component.ts'
import type { Json } from '../world/json.ts'
import type { World } from '../world/world.ts'
import type { EffectKind } from './effect-kind.ts'
import type { Sessions } from './sessions.ts'
import { transcriptKey } from './transcript-place.ts'

const maxMessages = 10
const maxChars = 1_000
/** Of so many lines that are found those are taken that the agent no longer sees. */
const maxHits = 500

/** Searches an agent's own transcript for what it no longer sees of its conversation. */
export function recallEffect(sessions: Sessions): EffectKind {
  return {
    prepare(world, effect) {
      const { agent } = world.read(effect, OwnedBy)
      const { query } = world.read(effect, ToolCall).arguments
      const isFolded = foldedOf(world, agent)
      return async () => {
        const words = typeof query === 'string' ? query : ''
        const hits = await sessions.transcripts.search(await transcriptKey(world, agent), words, maxHits)
        const found = hits.flatMap(({ text }) => messageOf(text) ?? []).filter(({ seq }) => isFolded(seq))
        const messages = found.slice(0, maxMessages).map(({ seq, message }) => {
          const rendered = renderTranscript([message])
          return { seq, role: message.role, text: cutText(rendered.slice(rendered.indexOf('\n') + 1), maxChars) }
        })
        return said(messages.length === 0 ? 'No earlier message has a word of the query.' : JSON.stringify(messages))
      }
    },
  }
}

/** Is a message with this `seq` one that the agent no longer sees? */
function foldedOf(world: World, agent: Entity): (seq: number) => boolean {
  const covered = world.get(agent, Boundary)?.at(-1)?.seq ?? 0
  const archived = (world.get(agent, Archive) ?? []).filter(({ status }) => status === 'archived')
  return (seq) => seq <= covered || archived.some(({ fromSeq, toSeq }) => fromSeq < seq && seq <= toSeq)
}

function said(text: string): OutcomeData {
  return { ok: true, value: { content: [{ type: 'text', text }] } as Json }
}
