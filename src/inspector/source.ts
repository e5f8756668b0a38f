import type { DrivenNow } from '../engine/effects/host-seams.ts'
import type { Runner } from '../engine/loop/runner.ts'
import type { JournalRow, StoredWorld } from '../stores/port.ts'
import type { Component } from '../world/component.ts'
import type { System } from '../world/world.ts'
import type {
  Abilities,
  Action,
  RunFacts,
  SourceKind,
  StreamedDelta,
  StreamedText,
  WorldEntry,
} from './reading/wire.ts'

/** What a page is told without asking. */
export type News =
  | { readonly type: 'moved'; readonly entry: WorldEntry & { readonly tick: number } }
  | { readonly type: 'gone'; readonly world: string }
  | ({ readonly type: 'delta' } & StreamedDelta)
  | { readonly type: 'ended'; readonly message: string; readonly isFailure: boolean }

/** Makes copies of worlds, drives them, and passes on what a person answers in them. */
export interface CopyMaker {
  readonly drivers: Abilities['drivers']
  /** Resolves with the name of the copy. */
  make(order: Extract<Action, { do: 'fork' }>): Promise<string>
  reply(order: Extract<Action, { do: 'reply' }>): void
  /** A person has approved a call: in a copy it then runs. */
  approved(world: string, approval: string): void
  has(world: string): boolean
}

/** Worlds that a person looks at: living ones, those of a store, or those of a saved run. It reads, and holds nothing. */
export interface Source {
  readonly kind: SourceKind
  readonly title: string
  /** What the program knows. Others are shown as JSON. */
  readonly components: Iterable<Component>
  readonly systems: readonly System[]
  /** Of a simulation. */
  readonly run?: RunFacts | undefined
  /** Drives the root world of a living source. */
  readonly runner?: Runner | undefined
  /** Roots first in order of their names, each with those below it behind it. */
  worlds(): Promise<readonly WorldEntry[]>
  entry(world: string): Promise<WorldEntry | undefined>
  /** As `Store.read`. `undefined`: there is no such world. */
  read(world: string, range?: { readonly from?: number; readonly to?: number }): Promise<StoredWorld | undefined>
  /** The rows behind a tick, up to another. `undefined`: some of them are not kept any more. @param to @default the newest */
  rows(world: string, after: number, to?: number): Promise<readonly JournalRow[] | undefined>
  /** A world that is driven here. */
  driven?(world: string): DrivenNow | undefined
  /** What models have streamed of calls in flight. */
  streamed?(): readonly StreamedText[]
  /** Makes copies of its worlds; absent: there is no place for them. */
  readonly copies?: CopyMaker | undefined
  /** Looks for fewer faults that break the law of a saved run; absent: its story is not known. */
  readonly shrink?: (() => Promise<RunFacts>) | undefined
  /** A text kept beside a root world: a result, an artifact. */
  text(root: string, key: string): Promise<string | undefined>
  transcript(root: string, key: string): Promise<readonly string[] | undefined>
  /** Calls a function with what is new. Returns one that ends it. */
  watch(hear: (news: News) => void): () => void
  close(): void | Promise<void>
}
