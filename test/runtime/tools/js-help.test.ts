import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { toolsIn } from './tools-in.ts'

type Help = (name: string, symbol?: string) => Promise<string>

/** `js_help` in a project whose packages have these files. */
async function helpIn(files: Readonly<Record<string, string>>): Promise<Help> {
  const inModules = Object.entries(files).map(([path, text]) => [`node_modules/${path}`, text] as const)
  const call = toolsIn(await tempFolder(Object.fromEntries(inModules)))
  return (name, symbol) => call('js_help', { package: name, ...(symbol !== undefined && { symbol }) })
}

const manifest = (fields: object): string => JSON.stringify({ version: '1.2.3', ...fields })

/** A package whose main file must not run. */
const shop = {
  'shop/package.json': manifest({ description: 'Sells things.', main: './index.js', types: './index.d.ts' }),
  'shop/index.js': "throw new Error('This package was run.')",
  'shop/README.md': '# Shop\n\nHow to sell.\n',
  'shop/index.d.ts': `
    import type { Price } from './price.js'
    /**
     * Sells an {@link Item}. It has to be in stock.
     * @param item what to sell
     */
    export declare function sell(item: Item, /* in euros */ price?: Price): Promise<Receipt>
    export declare function sell(item: Item[]): Promise<Receipt[]>
    /** Something that is sold. */
    export interface Item {
      readonly name: string
      /** Lowers the price. */
      discount(percent: number): this
    }
    export class Receipt extends Error implements Iterable<string> { #total: number; total(): number }
    export declare const version: string, limit: 5
    export type { Price }
    export * from './more'
    export * as tools from './tools.mjs'
    declare const hidden: 1
    export default sell
  `,
  'shop/price.d.ts': 'export type Price = { readonly cents: number } | "free"',
  'shop/more.d.ts': '/** @deprecated Use sell. */\nexport declare const vend: typeof sell\nexport enum Size { S, M }',
  'shop/tools.d.mts': 'export declare function weigh(): number',
}

describe('js_help', () => {
  it('lists exports with signature and first sentence, and the beginning of the README', async () => {
    const help = await helpIn(shop)
    expect(await help('shop')).toBe(
      [
        'shop 1.2.3: Sells things.',
        'Declarations: node_modules/shop/index.d.ts',
        '',
        'function sell(item: Item, price?: Price): Promise<Receipt> (and 1 more) — Sells an Item.',
        'interface Item — Something that is sold.',
        'class Receipt extends Error implements Iterable<string>',
        'const version: string',
        'const limit: 5',
        'type Price = { readonly cents: number } | "free"',
        'tools: namespace',
        'default: function sell(item: Item, price?: Price): Promise<Receipt> (and 1 more) — Sells an Item.',
        'const vend: typeof sell — (deprecated)',
        'enum Size { S, M }',
        '',
        'README:',
        '# Shop',
        '',
        'How to sell.',
      ].join('\n'),
    )
  })

  it('shows all about one export, a member, or what is in a namespace', async () => {
    const help = await helpIn(shop)
    expect(await help('shop', 'sell')).toMatch(/\* @param item what to sell[^]*sell\(item: Item\[\]\)/)
    expect(await help('shop', 'Item.discount')).toMatch(/Lowers the price\. \*\/\ndiscount\(percent: number\): this$/)
    expect(await help('shop', 'tools.weigh')).toContain('export declare function weigh(): number')
    expect(await help('shop', 'tools')).toMatch(/namespace tools:\nfunction weigh\(\): number$/)
  })

  it('proposes near names for one that is not exported', async () => {
    const help = await helpIn(shop)
    expect(await help('shop', 'sel')).toBe("Error: shop has no 'sel'. Did you mean 'sell'?")
    expect(await help('shop', 'Item.discont')).toBe("Error: Item has no 'discont'. Did you mean 'discount'?")
    expect(await help('shop', 'hidden')).toBe("Error: shop has no 'hidden'.")
  })

  it('finds declarations by exports and conditions, in @types, and beside the main file', async () => {
    const help = await helpIn({
      'map/package.json': manifest({
        exports: {
          '.': { browser: './no.js', import: { types: './esm.d.mts', default: './esm.mjs' } },
          './part/*': { default: './parts/*.js' },
        },
      }),
      'map/esm.d.mts': 'export declare const esm: 1',
      'map/parts/a.d.ts': 'export declare const a: 1',
      '@s/plain/package.json': manifest({ main: 'lib/main.js' }),
      '@s/plain/lib/main.d.ts':
        'declare function plain(): void; declare namespace plain { interface Options {} }; export = plain',
      '@s/typed/package.json': manifest({}),
      '@types/s__typed/package.json': manifest({}),
      '@types/s__typed/index.d.ts': "declare module '@s/typed' { export const typed: 1 }",
      'bare/package.json': manifest({}),
    })
    expect(await help('map')).toContain('const esm: 1')
    expect(await help('map/part/a')).toContain('const a: 1')
    expect(await help('@s/plain')).toMatch(/export =: function plain\(\): void\ninterface Options$/)
    expect(await help('@s/plain', 'default')).toContain('declare function plain(): void')
    expect(await help('@s/typed')).toContain('const typed: 1')
    expect(await help('bare')).toBe('bare 1.2.3\n[no type declarations found]')
  })

  it('shows modules of Node.js by @types/node', async () => {
    const call = toolsIn(join(import.meta.dirname, '../../..'))
    const text = await call('js_help', { package: 'node:path' })
    expect(text).toMatch(/^node:path \(@types\/node \d/)
    expect(await call('js_help', { package: 'fs', symbol: 'promises.rmdir' })).toContain(
      'function rmdir(path: PathLike',
    )
    const help = await helpIn({})
    expect(await help('node:path')).toMatch(/^Error: node:path is part of Node\.js; .* not installed\.$/)
  })

  it('follows exports that lead in a circle or nowhere, and reads what else there is', async () => {
    const help = await helpIn({
      'a/package.json': manifest({ types: './a.d.ts' }),
      'a/a.d.ts':
        "export * from './b'; export * from './gone'; export { lost } from 'nowhere'; export declare const a: 1",
      'a/b.d.ts': "export * from './a'; export { a as again } from './a'; export declare const b: 1",
      'bad/package.json': manifest({ types: './bad.d.ts' }),
      'bad/bad.d.ts': 'export declare const {{{ <<< nonsense',
    })
    expect(await help('a')).toMatch(/\nconst a: 1\n(again: const a: 1\n)?const b: 1$/)
    expect(await help('bad')).toContain('bad 1.2.3')
  })

  it('names no path as a package, and shows no file outside of one', async () => {
    const folder = await tempFolder({
      'secret.md': 'secret',
      'package.json': JSON.stringify({ dependencies: { shop: '1' } }),
      'node_modules/evil/package.json': manifest({ types: '../../secret.d.ts' }),
      'secret.d.ts': 'export declare const secret: 1',
    })
    await symlink('../../secret.md', join(folder, 'node_modules/evil/README.md'))
    const call = toolsIn(folder)
    for (const name of ['../secret', '/etc', '.', 'evil/../../secret', 'file:///etc'])
      expect(await call('js_help', { package: name })).toMatch(/^Error: '.*' names no package\./)
    expect(await call('js_help', { package: 'evil' })).toBe('evil 1.2.3\n[no type declarations found]')
    expect(await call('js_help', { package: 'shp' })).toBe(
      `Error: There is no package 'shp' in node_modules of ${folder} or of a folder above. Did you mean 'shop'?`,
    )
  })
})

describe('installed_packages', () => {
  const project = {
    'package.json': JSON.stringify({
      dependencies: { b: '^2.0.0', gone: '~3.1.0' },
      devDependencies: { a: '1', '@s/c': '1' },
      peerDependencies: { a: '>=1' },
      optionalDependencies: { b: '^2.0.0' },
    }),
    'node_modules/a/package.json': '{"version":"1.0.5"}',
    'node_modules/b/package.json': '{"version":"2.1.0"}',
    'node_modules/@s/c/package.json': '{}',
    'sub/file': '',
  }

  it('lists direct dependencies with version and kind, also from a folder below', async () => {
    const folder = await tempFolder(project)
    const lines = [
      '@s/c [no version] (dev)',
      'a 1.0.5 (dev, peer)',
      'b 2.1.0 (optional)',
      'gone [missing] ~3.1.0 (dependency)',
    ]
    expect(await toolsIn(folder)('installed_packages', {})).toBe(lines.join('\n'))
    expect(await toolsIn(join(folder, 'sub'))('installed_packages', { limit: 1 })).toBe(`${lines[0]}\n[1 of 4 shown]`)
  })

  it('lists those whose name fits', async () => {
    const call = toolsIn(await tempFolder(project))
    expect(await call('installed_packages', { pattern: 'ON' })).toBe('gone [missing] ~3.1.0 (dependency)')
    expect(await call('installed_packages', { pattern: '@s/*' })).toBe('@s/c [no version] (dev)')
    expect(await call('installed_packages', { pattern: 'g*n' })).toBe('[no dependency fits]')
  })

  it('says that there is no project', async () => {
    expect(await toolsIn('/nothing/there')('installed_packages', {})).toMatch(/^Error: There is no package\.json in /)
  })
})
