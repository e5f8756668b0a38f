import type { ComponentChildren } from 'preact'
import type { Problem } from '../../reading/wire.ts'

/** What is shown where there is nothing to show. */
export function Empty({ children, title }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="notice">
      <strong>{title}</strong>
      {children !== undefined && <p>{children}</p>}
    </div>
  )
}

/** Why something cannot be shown, and what to do. */
export function ProblemNotice({ problem }: { readonly problem: Problem }) {
  return (
    <div class="notice is-problem" role="alert">
      <strong>{titles[problem.code] ?? 'This cannot be shown'}</strong>
      <p>{problem.message}</p>
    </div>
  )
}

const titles: Readonly<Record<string, string>> = {
  'corrupt-journal': 'The journal is damaged',
  'corrupt-snapshot': 'The snapshot is damaged',
  forbidden: 'The link is not the right one',
  'newer-version': 'A newer version wrote this',
  'no-such-world': 'There is no such world',
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <div class="notice is-loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {what}
    </div>
  )
}
