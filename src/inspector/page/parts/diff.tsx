import { useState } from 'preact/hooks'

/** Lines that are shown before more are asked for. */
const shownLines = 400

/** A change of a file, by the lines of a diff. */
export function Diff({
  lines,
  note,
  path,
}: {
  readonly lines: readonly string[]
  readonly path: string
  readonly note?: string | undefined
}) {
  const [count, setCount] = useState(shownLines)
  const added = lines.filter((line) => line.startsWith('+')).length
  const removed = lines.filter((line) => line.startsWith('-')).length
  return (
    <figure class="diff">
      <figcaption>
        <span class="clip">{path}</span>
        <span class="space" />
        {note !== undefined && <span class="muted">{note}</span>}
        <span class="diff-added">+{added}</span>
        <span class="diff-removed">−{removed}</span>
      </figcaption>
      <div class="diff-lines" role="group" aria-label={`Change of ${path}`} tabIndex={0}>
        {lines.slice(0, count).map((line, index) => (
          <div key={index} class={classOf(line)}>
            {line}
          </div>
        ))}
      </div>
      {lines.length > count && (
        <button type="button" class="link" onClick={() => setCount(count + 10 * shownLines)}>
          {lines.length - count} more lines
        </button>
      )}
    </figure>
  )
}

function classOf(line: string): string {
  if (line.startsWith('+')) return 'diff-line is-added'
  if (line.startsWith('-')) return 'diff-line is-removed'
  return line.startsWith('@@') ? 'diff-line is-place' : 'diff-line'
}
