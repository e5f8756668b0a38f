import type { ComponentChildren } from 'preact'

/** A state in one word, with its colour and a dot. States: those of `AgentState` and of sessions. */
export function Badge({ children, state }: { readonly state: string; readonly children?: ComponentChildren }) {
  return (
    <span class="badge" data-state={state}>
      <i aria-hidden="true" />
      {children ?? stateName(state)}
    </span>
  )
}

/** A state in a word that people use. */
export function stateName(state: string): string {
  return words[state] ?? state
}

const words: Readonly<Record<string, string>> = {
  approval: 'approval',
  model: 'thinking',
  tool: 'tool',
  retry: 'retrying',
  sessions: 'waiting',
  slot: 'in line',
  timed_out: 'timed out',
  busy: 'working',
}
