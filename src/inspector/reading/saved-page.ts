import type { SourceInfo, TickRow } from './wire.ts'

/** What a page carries that shows a run without a server. */
export interface SavedPage {
  readonly source: SourceInfo
  /** The root first. */
  readonly worlds: readonly {
    readonly name: string
    readonly snapshot: { readonly tick: number; readonly lines: readonly string[] }
    readonly rows: readonly TickRow[]
  }[]
}
