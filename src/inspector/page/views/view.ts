import type { ComponentType } from 'preact'
import type { SourceInfo } from '../../reading/wire.ts'

/** A view of the page. Its file exports it, and `views/index.ts` lists it. */
export interface View {
  /** In the address. */
  readonly id: string
  readonly title: string
  /** The key that opens it. */
  readonly key: string
  /** SVG path of its icon, in a box of 16 by 16, drawn as a line. */
  readonly icon: string
  readonly component: ComponentType
  /** It shows a world as of a tick, and nothing without one. @default false */
  readonly isOfWorld?: boolean
  /** Whether there is anything for it. @default always */
  readonly isFor?: (source: SourceInfo) => boolean
  /** A number beside its title, such as open approvals; 0 is not shown. */
  readonly count?: () => number
}
