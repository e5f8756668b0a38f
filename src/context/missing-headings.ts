/** Those of the headings that a text lacks. It may set them at another level, and in other letters, large or small. */
export function missingHeadings(text: string, headings: readonly string[]): readonly string[] {
  const there = new Set(text.split('\n').filter(isHeading).map(bare))
  return headings.filter((heading) => !there.has(bare(heading)))
}

function isHeading(line: string): boolean {
  return line.trimStart().startsWith('#')
}

function bare(heading: string): string {
  return heading
    .trim()
    .replace(/^#+/, '')
    .replace(/[:#]+$/, '')
    .trim()
    .toLowerCase()
}
