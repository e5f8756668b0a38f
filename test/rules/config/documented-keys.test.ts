import * as entia from 'entia'
import { EntiaError, Runner } from 'entia'
import * as context from 'entia/context'
import { readConfig } from 'entia/context'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigSchema } from '../../../src/rules/config/config-schema.ts'
import { settingKind, snakeCase } from '../../../src/rules/config/check-settings.ts'
import { contextFlagsHelp } from '../../../src/cli/config/context-flags.ts'

const page = await readFile(join(import.meta.dirname, '../../../docs/context.md'), 'utf8')

/** Keys in the first cells of a table, each whole: `a.b`, `c` in one cell are `a.b` and `a.c`. */
function keys(): readonly string[] {
  const cells = [...page.matchAll(/^\| (`(?:context|ceilings|archival|subagents)\.[^|]*) \|/gm)].map(
    ([, cell = '']) => cell,
  )
  return cells.flatMap((cell) => {
    const [first = '', ...others] = [...cell.matchAll(/`([^`]+)`/g)].map(([, key = '']) => key)
    const folder = first.slice(0, first.lastIndexOf('.'))
    return [first, ...others.map((other) => `${folder}.${other}`)]
  })
}

/** What is said of a configuration that has nothing but this key, with a value that no key takes. */
function problemOf(key: string): string {
  const wrong = key
    .replace(/\.\*$/, '')
    .split('.')
    .reduceRight<unknown>(
      (inner, name) => ({ [name]: inner }),
      () => 0,
    )
  try {
    readConfig(wrong)
  } catch (error) {
    if (error instanceof EntiaError) return error.message
  }
  return 'it is taken'
}

/** The last names of all keys that there are, as they are spelt in files. */
function namesIn(schema: Parameters<typeof settingKind>[0]): readonly string[] {
  const setting = settingKind(schema)
  if (setting.kind !== 'section') return []
  return Object.entries(setting.settings).flatMap(([name, value]) => {
    const below = namesIn(value)
    return below.length === 0 ? [snakeCase(name)] : below
  })
}

describe('the page on long lives', () => {
  it('names every key', () => {
    const names = namesIn(ConfigSchema())
    expect(names).toContain('depth_cap')
    // The models of tiers are named by the tiers.
    const tiers = new Set(['frontier', 'mid', 'small'])
    const isNamed = (name: string): boolean => new RegExp(`[\`.]${name}\``).test(page)
    expect(names.filter((name) => !isNamed(name) && !tiers.has(name))).toEqual([])
  })

  it('names keys that there are', () => {
    expect(keys().length).toBeGreaterThan(20)
    expect(keys().filter((key) => !problemOf(key).includes(`${key.replace(/\.\*$/, '')}:`))).toEqual([])
    expect(keys().filter((key) => problemOf(key).includes('not known'))).toEqual([])
  })

  it('names options that there are', () => {
    const options = [...page.matchAll(/^\| `(--[a-z-]+)/gm)].map(([, option = '']) => option)
    expect(options.length).toBeGreaterThan(10)
    expect(options.filter((option) => !contextFlagsHelp.includes(option))).toEqual([])
  })

  it('names functions that there are', () => {
    const methods = [...page.matchAll(/`runner\.(\w+)\(/g)].map(([, method = '']) => method)
    expect(methods.filter((method) => !(method in Runner.prototype))).toEqual([])
    const functions = [...page.matchAll(/`(\w+)\(/g)].map(([, name = '']) => name)
    expect(functions.filter((name) => !(name in entia || name in context))).toEqual([])
    expect([methods.length, functions.length].every((count) => count > 3)).toBe(true)
  })
})
