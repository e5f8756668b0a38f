import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pages } from '../scripts/docs/pages.ts'
import { runnerEventTypes } from '../src/engine/loop/events.ts'
import { standardEventTypes } from '../src/protocol/event.ts'

describe('a page made from the source', () => {
  it.for(Object.entries(pages))('%s is what `npm run docs` writes', async ([path, make]) => {
    expect(await readFile(join(import.meta.dirname, '..', path), 'utf8')).toBe(make())
  })

  it('names every event, with its fields', () => {
    const page = pages['docs/events.md']?.() ?? ''
    const headings = new Set([...page.matchAll(/^### `(.+)`$/gm)].map(([, name]) => name))
    expect(headings).toEqual(new Set<string>([...standardEventTypes, ...runnerEventTypes]))
    const delegationCompleted = page.split('### `delegation-completed`')[1]?.split('\n### ')[0]
    expect(delegationCompleted).toContain('| `correlationId` | `string` |')
    expect(delegationCompleted).toContain('| `durationMs` | `number` | From admission. |')
  })

  it('has the default of an option, and of a setting of the configuration', () => {
    const page = pages['docs/options.md']?.() ?? ''
    expect(page).toContain('| `maxInFlight`? | `number` | 1024 | Most effects at work at once')
    expect(page).toContain('| `subagents.enabled` | true or false | `false` |')
  })

  it('says of every name of every door what it is', () => {
    const bare = Object.entries(pages).flatMap(([path, make]) => {
      const [, ...entries] = path.startsWith('docs/api/entia') ? make().split(/^### /m) : []
      return entries
        .filter((entry) => entry.split('\n\n')[1]?.startsWith('```') !== false)
        .map((entry) => `${path}: ${entry.split('\n')[0]}`)
    })
    expect(bare).toEqual([])
  })

  it('says what each key of the configuration must be', () => {
    expect(pages['docs/options.md']?.()).not.toContain('another value')
  })
})
