/** A query such as `Llm, Conversation, not(Paused)`. */
export interface Query {
  readonly wanted: readonly string[]
  readonly unwanted: readonly string[]
  /** What cannot be read of it. */
  readonly problem?: string
}

export function parsedQuery(text: string, known: ReadonlySet<string>): Query {
  const wanted: string[] = []
  const unwanted: string[] = []
  for (const term of text.split(',')) {
    const trimmed = term.trim()
    if (trimmed === '') continue
    const [, without, name = without] = /^(?:not\(\s*(\w+)\s*\)|!?(\w+))$/.exec(trimmed) ?? []
    if (name === undefined) return { wanted, unwanted, problem: `'${trimmed}' must be a component or not(component).` }
    if (!known.has(name)) return { wanted, unwanted, problem: `No entity has a component '${name}' at this tick.` }
    if (without !== undefined || trimmed.startsWith('!')) unwanted.push(name)
    else wanted.push(name)
  }
  return { wanted, unwanted }
}
