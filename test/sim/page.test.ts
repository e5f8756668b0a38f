import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { faultNames, standardLaws } from '../../src/sim/index.ts'
import { simulateOptionNames } from '../../src/sim/options.ts'

const page = await readFile(join(import.meta.dirname, '../../docs/simulation.md'), 'utf8')

describe('the page on simulation', () => {
  it('lists the standard laws with their meanings, and no others', () => {
    const [, table = ''] = /<!-- laws: begin -->([^]*)<!-- laws: end -->/.exec(page) ?? []
    const rows = [...table.matchAll(/^\| `(.*?)` \| (.*) \|$/gm)].map(([, name, meaning]) => ({ name, meaning }))
    expect(rows).toEqual(standardLaws.map(({ name, meaning }) => ({ name, meaning })))
  })

  it('names every fault and every option', () => {
    const names = [...Object.values(faultNames).flat(), ...simulateOptionNames]
    const ways = new Set(['beforeCommit', 'afterCommit', 'afterEffects', 'components', 'sessionPool', 'people'])
    expect(names.filter((name) => !ways.has(name) && !page.includes(`\`${name}`))).toEqual([])
  })
})
