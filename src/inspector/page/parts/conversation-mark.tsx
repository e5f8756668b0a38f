import { useState } from 'preact/hooks'
import type { Message } from '../../../protocol/message.ts'
import { read } from '../../reading/raw-view.ts'
import type { Problem, TranscriptReply } from '../../reading/wire.ts'
import { go, hrefOf } from '../data/address.ts'
import { type MarkItem, transcriptMessage } from '../data/conversation.ts'
import { connection, type Moment, problemOf, worlds } from '../data/state.ts'
import { moneyText, numberText } from '../data/words.ts'
import { Fold } from './fold.tsx'
import { JsonTree } from './json-tree.tsx'
import { Markdown } from './markdown.tsx'
import { ContentView } from './message-content.tsx'

export interface ConversationMarkProps {
  readonly item: MarkItem
  readonly shown: Moment
  readonly agent: number
}

/** Where messages gave way to something shorter, or were taken back. They are opened from the transcript. */
export function ConversationMark({ agent, item, shown }: ConversationMarkProps) {
  const { archive, boundary, count, key, kind } = item
  const messages = `${numberText(count)} message${count === 1 ? '' : 's'}`
  return (
    <div class="mark" data-kind={kind}>
      <span class="mark-line">
        <span>
          {kind === 'compacted' && `${messages} above are replaced by a ${boundary?.kind ?? 'summary'}`}
          {kind === 'archived' && `${messages} of this turn are archived`}
          {kind === 'rewound' && `${messages} taken back by the user`}
        </span>
        {boundary?.costUsd !== undefined && <span class="muted">{moneyText(boundary.costUsd * 1e9)}</span>}
        {archive !== undefined && <Holder name={archive.subagentId} />}
      </span>
      {boundary !== undefined && (
        <Fold id={`${shown.world.name}/${key}/text`} class="aside" summary={<span>The {boundary.kind}</span>}>
          {() => <Markdown label={boundary.kind} text={boundary.text} />}
        </Fold>
      )}
      <Fold id={`${shown.world.name}/${key}/messages`} class="aside" summary={<span>In the transcript</span>}>
        {() => <FromTranscript item={item} shown={shown} agent={agent} />}
      </Fold>
    </div>
  )
}

/** The session that has an archived turn. */
function Holder({ name }: { readonly name: string }) {
  if (!worlds.value.has(name)) return <span class="muted">held by {name}</span>
  const to = { world: name, tick: 'live' as const, entity: undefined, q: undefined }
  return (
    <a
      class="link"
      href={hrefOf(to)}
      onClick={(event) => {
        event.preventDefault()
        go(to)
      }}
    >
      {name}
    </a>
  )
}

type Found = 'reading' | Problem | readonly { readonly seq: number; readonly message: Message }[]

const kept = new Map<string, Found>()

function FromTranscript({ agent, item, shown }: ConversationMarkProps) {
  const { world } = shown
  const key = `${world.name}/${item.key}`
  const [found, setFound] = useState<Found | undefined>(kept.get(key))
  if (found === undefined) {
    setFound('reading')
    const show = async () => {
      const messages = await readTranscript(shown, agent, item)
      if (!('code' in messages) && messages.length > 0) kept.set(key, messages)
      setFound(messages)
    }
    void show()
    return null
  }
  if (found === 'reading') return <p class="muted">Reading the transcript</p>
  if ('code' in found) return <p class="bad">{found.message}</p>
  if (found.length === 0) return <p class="muted">They are not in the transcript yet.</p>
  return (
    <div class="old-messages">
      {found.map(({ message, seq }) => (
        <div key={seq} class="message" data-role={message.role}>
          <header>
            <strong>{message.role === 'tool' ? message.name : message.role}</strong>
            <span class="muted">message {numberText(seq)}</span>
          </header>
          <div class="blocks">
            {message.content.map((block, index) =>
              block.type === 'tool-call' ? (
                <Fold key={index} id={`${key}/${seq}/${index}`} class="aside" summary={<code>{block.name}</code>}>
                  {() => <JsonTree value={block.arguments} open={2} />}
                </Fold>
              ) : (
                <ContentView
                  key={index}
                  id={`${key}/${seq}/${index}`}
                  block={block}
                  isPlain={message.role === 'tool'}
                />
              ),
            )}
          </div>
        </div>
      ))}
    </div>
  )
}

const maxShown = 300

async function readTranscript(
  { world }: Moment,
  agent: number,
  { fromSeq, toSeq }: MarkItem,
): Promise<Problem | readonly { readonly seq: number; readonly message: Message }[]> {
  const session = read(world, agent, 'Ancestry')?.sessions.at(-1)?.sessionId
  const root = worlds.peek().get(world.name)?.root ?? world.name
  try {
    const { lines = [] } = await connection.get<TranscriptReply>('transcript', { root, agent, session })
    const messages = lines.flatMap((line) => transcriptMessage(line) ?? [])
    return messages.filter(({ seq }) => seq >= fromSeq && seq <= toSeq).slice(0, maxShown)
  } catch (error) {
    return problemOf(error)
  }
}
