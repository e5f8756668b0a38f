import type { View } from '../ask-event.ts'
import { PlainView } from './plain-view.ts'
import type { Output } from './screen.ts'
import { TerminalView } from './terminal-view.ts'

/** A view for people: on a terminal that knows control codes what changes, changes in place. */
export function textView(out: Output, { isDumb }: { readonly isDumb: boolean }): View {
  return out.isTTY === true && !isDumb ? new TerminalView(out) : new PlainView(out, { isDumb })
}
