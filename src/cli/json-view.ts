import type { View } from './ask-event.ts'

/** One JSON object a line, and nothing else. */
export function jsonView(out: { write(text: string): unknown }): View {
  return {
    tell: (event) => void out.write(`${JSON.stringify(event)}\n`),
    close: () => undefined,
  }
}
