import type { Message } from '../../../protocol/message.ts'
import type { Json } from '../../../base/json.ts'
import type { RequestPart } from '../../reading/wire.ts'
import { go, hrefOf } from '../data/address.ts'
import { bytesText, numberText } from '../data/words.ts'
import { Fold } from './fold.tsx'
import { brief, JsonTree } from './json-tree.tsx'
import { LongText } from './long-text.tsx'
import { ContentView } from './message-content.tsx'
import { readable } from './readable.ts'

export type CachedPart = 'whole' | 'partly' | 'none' | undefined

/** A part of a request, folded: what it is, which component it comes from, and what it costs to read. */
export function RequestPartView({
  cached,
  id,
  part,
}: {
  readonly id: string
  readonly part: RequestPart
  readonly cached: CachedPart
}) {
  const { component, entity, fromByte, toByte, tokens, value } = part
  return (
    <Fold
      id={id}
      class="request-part"
      state={cached}
      beside={
        <>
          <ComponentLink component={component} entity={entity} />
          <span class="part-tokens" title={`Bytes ${numberText(fromByte)} to ${numberText(toByte)}`}>
            {part.kind === 'options' ? '–' : numberText(tokens)}
          </span>
        </>
      }
      summary={
        <>
          <span class="part-kind">{kindOf(part)}</span>
          <span class="clip part-text">{readable(briefOf(part))}</span>
        </>
      }
    >
      {() => (
        <>
          <p class="muted part-facts">
            {bytesText(toByte - fromByte)}, from byte {numberText(fromByte)}
            {cached !== undefined && `; ${cachedWords[cached]}`}
          </p>
          {content(id, part, value)}
        </>
      )}
    </Fold>
  )
}

const cachedWords = { whole: 'read from the cache', partly: 'partly read from the cache', none: 'read anew' } as const

/** Leads to the component in the World view. */
export function ComponentLink({ component, entity }: { readonly component: string; readonly entity: number }) {
  const to = { view: 'world', entity, q: component }
  return (
    <a
      class="chip component-link"
      href={hrefOf(to)}
      title={`${component} of entity ${entity}`}
      onClick={(event) => {
        event.preventDefault()
        event.stopPropagation()
        go(to)
      }}
    >
      {component}
    </a>
  )
}

function kindOf({ kind, value }: RequestPart): string {
  if (kind === 'message') {
    const { role } = value as Message
    return role === 'tool' ? 'result' : role
  }
  return kind === 'tools' ? 'tool' : kind
}

function briefOf({ kind, value }: RequestPart): string {
  if (kind === 'message' || kind === 'tail') return messageText(value as Message)
  if (typeof value === 'string') return value.slice(0, 200)
  if (kind === 'tools') return (value as { readonly name?: string }).name ?? ''
  return brief(value, 160)
}

function messageText({ content: blocks }: Message): string {
  return blocks
    .map((block) => {
      if (block.type === 'text') return block.text.slice(0, 200)
      if (block.type === 'tool-call') return `${block.name}(${brief(block.arguments, 80)})`
      return `[${block.type}]`
    })
    .join(' ')
    .slice(0, 240)
}

function content(id: string, { kind }: RequestPart, value: Json) {
  if (typeof value === 'string') return <LongText label="Text" text={value} />
  if (kind !== 'message' && kind !== 'tail') return <JsonTree value={value} open={3} />
  const message = value as Message
  return (
    <div class="blocks">
      {message.content.map((block, index) =>
        block.type === 'tool-call' ? (
          <div key={index}>
            <code class="tool-name">{readable(block.name)}</code>
            <JsonTree value={block.arguments as Json} open={2} />
          </div>
        ) : (
          <ContentView key={index} id={`${id}/${index}`} block={block} isPlain />
        ),
      )}
    </div>
  )
}
