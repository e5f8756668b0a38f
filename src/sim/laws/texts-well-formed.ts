import type { Json } from '../../base/json.ts'
import type { Finding, Law } from '../law.ts'

/** Providers refuse such text, and it would be sent with every later request. */
export const textsWellFormed: Law = {
  name: 'texts-well-formed',
  meaning: 'No text in a world has half a surrogate pair in it.',
  watch: () => ({
    ticked({ step: { delta } }) {
      for (const changes of [delta.set, delta.appended, delta.spliced]) {
        for (const component in changes) {
          for (const [entity, value] of changes[component] ?? []) {
            const found = illFormedIn(value)
            if (found !== undefined) return said(entity, component, found)
          }
        }
      }
      return undefined
    },
  }),
}

function said(entity: number, component: string, text: string): Finding {
  return `${component} of entity ${entity} has half a surrogate pair in ${JSON.stringify(text.slice(0, 60))}`
}

/** The first text of a value, keys included, that is not well-formed. */
function illFormedIn(value: Json): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : value
  if (typeof value !== 'object' || value === null) return undefined
  const parts = value as Readonly<Record<string, Json>>
  for (const key in parts) {
    const found = key.isWellFormed() ? illFormedIn(parts[key] ?? null) : key
    if (found !== undefined) return found
  }
  return undefined
}
