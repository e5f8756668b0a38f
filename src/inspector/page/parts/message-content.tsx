import type { Message } from '../../../protocol/message.ts'
import { bytesText, numberText } from '../data/words.ts'
import { Fold } from './fold.tsx'
import { JsonTree } from './json-tree.tsx'
import { LongText } from './long-text.tsx'
import { Markdown } from './markdown.tsx'

type Block = Message['content'][number]
export type ContentBlock = Exclude<Block, { type: 'tool-call' }>

/** A block of a message. Whatever it holds is text; an image is shown if its data is here. */
export function ContentView({
  block,
  id,
  isPlain = false,
}: {
  readonly block: ContentBlock
  readonly id: string
  readonly isPlain?: boolean
}) {
  switch (block.type) {
    case 'text':
      if (block.text.trim() === '') return null
      return isPlain ? <LongText label="Text" text={block.text} /> : <Markdown label="Text" text={block.text} />
    case 'thinking':
      return <Thinking id={id} text={block.text} isHidden={block.redacted !== undefined && block.text === ''} />
    case 'file':
      return <FileView {...block} />
    case 'provider':
      return (
        <Fold
          id={id}
          class="aside"
          summary={
            <span class="clip">
              {typeof block.data['type'] === 'string' ? block.data['type'] : 'block'} of {block.provider}
            </span>
          }
        >
          {() => <JsonTree value={block.data} open={2} />}
        </Fold>
      )
  }
}

export function Thinking({
  id,
  isHidden,
  text,
}: {
  readonly id: string
  readonly text: string
  readonly isHidden: boolean
}) {
  const size = isHidden ? 'encrypted by its provider' : `${numberText(text.length)} characters`
  return (
    <Fold
      id={id}
      class="aside thinking"
      summary={
        <>
          <span>Thinking</span>
          <span class="muted">{size}</span>
        </>
      }
    >
      {() =>
        isHidden ? <p class="muted">Only the provider can read it.</p> : <Markdown label="Thinking" text={text} />
      }
    </Fold>
  )
}

const imageType = /^image\/(?:avif|gif|jpeg|png|svg\+xml|webp)$/
const base64 = /^[\w+/=\s-]*$/

function FileView(file: Extract<Block, { type: 'file' }>) {
  const { data, mediaType, name, url } = file
  if (data !== undefined && imageType.test(mediaType) && base64.test(data))
    return <img class="image" src={`data:${mediaType};base64,${data}`} alt={name ?? 'Image'} />
  return (
    <span class="file">
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M4 1.5h5l3.5 3.5v9.5H4zM9 1.5V5h3.5" />
      </svg>
      <span class="clip">{name ?? url ?? 'File'}</span>
      <span class="muted">
        {mediaType}
        {data !== undefined && `, ${bytesText(Math.floor((data.length * 3) / 4))}`}
        {url !== undefined && ', not loaded'}
      </span>
    </span>
  )
}
