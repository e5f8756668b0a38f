import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { bytesText, numberText } from '../data/words.ts'
import { styled } from './readable.ts'

/** What of a text is shown before more is asked for, in characters and in lines. */
const maxChars = 4_000
const maxLines = 40
const lineHeight = 18
/** Longer lines are shown as several. */
const maxLineChars = 400
/** No element is higher in any browser. */
const maxHeight = 8_000_000

/** Text as it is, such as a tool's result. Of a long one the beginning is shown, and the whole of it when asked for. */
export function LongText({ label, text }: { readonly label: string; readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  const start = useMemo(() => beginningOf(text), [text])
  if (isWhole) return <Lines label={label} text={text} onClose={() => setWhole(false)} />
  return (
    <div class="long">
      <pre class="plain" tabIndex={0}>
        <Terminal text={start} />
      </pre>
      {start.length < text.length && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          Open all {bytesText(text.length)}
        </button>
      )}
    </div>
  )
}

function Terminal({ text }: { readonly text: string }) {
  const parts = useMemo(() => styled(text), [text])
  return (
    <>
      {parts.map((part, index) =>
        part.style === '' ? (
          part.text
        ) : (
          <span key={index} class={part.style}>
            {part.text}
          </span>
        ),
      )}
    </>
  )
}

function beginningOf(text: string): string {
  let end = Math.min(text.length, maxChars)
  let at = -1
  for (let line = 0; line < maxLines; line++) {
    at = text.indexOf('\n', at + 1)
    if (at === -1 || at >= end) break
    if (line === maxLines - 1) end = at
  }
  // A pair of surrogates stays whole.
  if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? '')) end--
  return text.slice(0, end)
}

/** All of a text, of which only the lines that are seen are in the page. */
function Lines({
  label,
  onClose,
  text,
}: {
  readonly label: string
  readonly text: string
  readonly onClose: () => void
}) {
  const starts = useMemo(() => lineStarts(text), [text])
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(400)
  useLayoutEffect(() => {
    box.current?.focus()
    setHeight(box.current?.clientHeight ?? 400)
  }, [])
  const count = starts.length
  const all = Math.min(count * lineHeight, maxHeight)
  const seen = Math.ceil(height / lineHeight)
  // Where not every line has room for its own height, the place in the text goes with that of the bar.
  const first = all <= height ? 0 : Math.round((top / (all - height)) * Math.max(0, count - seen))
  const shown = starts.slice(first, first + seen + 1)
  return (
    <div class="long">
      <div
        ref={box}
        class="lines"
        tabIndex={0}
        role="region"
        aria-label={`${label}, whole`}
        onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      >
        <div class="lines-all" style={{ height: `${all}px` }}>
          <pre class="lines-seen">
            {shown.map((start, index) => {
              const end = starts[first + index + 1] ?? text.length
              return (
                <div key={start} class="line">
                  <Terminal text={text.slice(start, end).replace(/\r?\n$/, '')} />
                </div>
              )
            })}
          </pre>
        </div>
      </div>
      <span class="long-foot">
        {numberText(count)} lines, {bytesText(text.length)}
        <button type="button" class="link" onClick={onClose}>
          Close
        </button>
      </span>
    </div>
  )
}

function lineStarts(text: string): readonly number[] {
  const starts: number[] = []
  let from = 0
  while (from < text.length) {
    const found = text.indexOf('\n', from)
    const end = found === -1 ? text.length : found + 1
    for (let at = from; at < end; at += maxLineChars) starts.push(at)
    from = end
  }
  return starts
}
