import { apiPages } from './api.ts'
import { eventsPage } from './events.ts'
import { optionsPage } from './options.ts'

/** The pages that are made from the source, by path. */
export const pages: Readonly<Record<string, () => string>> = {
  'docs/events.md': eventsPage,
  'docs/options.md': optionsPage,
  ...apiPages(),
}
