/** A bug that is planted in a copy of the sources, as a change of their text. */
export interface Mutation {
  readonly name: string
  /** What goes wrong with it, in one line. */
  readonly bug: string
  /** From the project's root. */
  readonly file: string
  /** Stands in the file exactly once. */
  readonly before: string
  readonly after: string
  /** The file of tests that finds it, where no story can: what it changes is not seen in a world. @default the stories find it */
  readonly test?: string
  /** How many processes tell the stories that are to find it. @default 1 */
  readonly processes?: number
}
