import type { Json } from '../../../base/json.ts'
import type { ResultItem, ToolCallBlock } from '../data/conversation.ts'
import { bytesText } from '../data/words.ts'
import { Fold } from './fold.tsx'
import { brief, JsonTree } from './json-tree.tsx'
import { LongText } from './long-text.tsx'
import { ContentView } from './message-content.tsx'
import { readable } from './readable.ts'
import { TickLink } from './tick-link.tsx'

export interface ToolCallProps {
  readonly id: string
  readonly call: ToolCallBlock
  readonly result: ResultItem | undefined
  readonly tokens: number | undefined
  /** Of one without a result. */
  readonly open: { readonly state: string; readonly words: string } | undefined
}

/** A tool call with its result, folded. */
export function ToolCallView({ call, id, open, result, tokens }: ToolCallProps) {
  const isError = result?.message.isError === true
  const state = result === undefined ? (open?.state ?? 'idle') : isError ? 'failed' : 'done'
  const words = result === undefined ? (open?.words ?? 'no result') : isError ? 'failed' : sizeOf(result)
  return (
    <Fold
      id={id}
      class="tool-call"
      state={state}
      beside={result?.came === undefined ? undefined : <TickLink tick={result.came.tick} />}
      summary={
        <>
          <i class="dot" aria-hidden="true" />
          <code class="tool-name">{readable(call.name)}</code>
          <code class="clip muted">{call.malformed === undefined ? argumentsText(call.arguments) : 'malformed'}</code>
          <span class="space" />
          <span class="tool-state">{words}</span>
          {tokens !== undefined && <span class="muted is-extra">{tokens.toLocaleString('en')} tokens</span>}
        </>
      }
    >
      {() => (
        <dl class="tool-parts">
          <dt>Arguments</dt>
          <dd>
            {call.malformed === undefined ? (
              <JsonTree value={call.arguments} open={2} />
            ) : (
              <LongText label="Arguments" text={call.malformed} />
            )}
          </dd>
          <dt>{isError ? 'Error' : 'Result'}</dt>
          <dd>
            {result === undefined && <span class="muted">{open?.words ?? 'There is none.'}</span>}
            {result?.message.content.map((block, index) => (
              <ContentView key={index} id={`${id}/${index}`} block={block} isPlain />
            ))}
            {result?.message.content.length === 0 && <span class="muted">It is empty.</span>}
          </dd>
        </dl>
      )}
    </Fold>
  )
}

function argumentsText(value: Json): string {
  const text = readable(brief(value, 160))
  return text === '{}' ? '' : text
}

function sizeOf({ message: { content } }: ResultItem): string {
  const chars = content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0)
  const files = content.filter(({ type }) => type === 'file').length
  return [chars > 0 || files === 0 ? bytesText(chars) : '', files > 0 ? `${files} file${files === 1 ? '' : 's'}` : '']
    .filter((part) => part !== '')
    .join(', ')
}
