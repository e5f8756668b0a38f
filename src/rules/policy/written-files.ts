import type { Expanded } from './parameter-expansion.ts'

/** Most texts that are kept of a file. */
const maxTexts = 32

/** What a shell body writes into files itself, as far as it says so: a file that it runs then is one that can be read. */
export class WrittenFiles {
  readonly #texts = new Map<string, Expanded>()

  /** @param names all that the file can be called @param text what may be in it, besides what was before */
  write(names: readonly string[], text: Expanded): void {
    for (const name of names) {
      const { hasUnknown = false, values = [] } = this.#texts.get(name) ?? {}
      const all = [...new Set([...values, ...text.values])]
      this.#texts.set(name, {
        values: all.slice(0, maxTexts),
        hasUnknown: hasUnknown || text.hasUnknown || all.length > maxTexts,
      })
    }
  }

  /** What may be in a file; `undefined`: the body writes none of these names. */
  read(names: readonly string[]): Expanded | undefined {
    const found = names.flatMap((name) => this.#texts.get(name) ?? [])
    if (found.length === 0) return undefined
    return {
      values: [...new Set(found.flatMap(({ values }) => values))],
      hasUnknown: found.some(({ hasUnknown }) => hasUnknown),
    }
  }
}
