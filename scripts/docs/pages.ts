import { apiPages } from './api.ts'
import { configSchema } from './config-schema.ts'
import { eventsPage } from './events.ts'
import { optionsPage } from './options.ts'

/** The pages that are made from the source, by path, and the schema of configuration files. */
export const pages: Readonly<Record<string, () => string>> = {
  'config.schema.json': configSchema,
  'docs/events.md': eventsPage,
  'docs/options.md': optionsPage,
  ...apiPages(),
}
