/** A key that is no text, named as `node:readline` names it. */
export interface TypedKey {
  readonly name?: string
  readonly ctrl?: boolean
  readonly meta?: boolean
  readonly shift?: boolean
  readonly sequence?: string
}

/** What a person does at a terminal. A pasted text has its own line breaks, however the terminal sent them. */
export type TypedInput =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'key'; readonly key: TypedKey }
  | { readonly kind: 'paste'; readonly text: string }
