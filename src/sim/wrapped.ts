/** Columns of a report. */
export const reportColumns = 96

/** A text in lines of at most `reportColumns`, each indented, broken between words; what has no gap stays whole. */
export function wrapped(text: string, indent: string): readonly string[] {
  return text.split('\n').flatMap((paragraph) => wrappedParagraph(paragraph, indent))
}

function wrappedParagraph(paragraph: string, indent: string): readonly string[] {
  const own = /^\s*/.exec(paragraph)?.[0] ?? ''
  const lines: string[] = []
  let line = ''
  for (const word of paragraph.trim().split(/\s+/)) {
    const isFull = line !== '' && indent.length + own.length + line.length + 1 + word.length > reportColumns
    if (isFull) lines.push(line)
    line = isFull || line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((each) => `${indent}${own}${each}`.trimEnd())
}
