import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { describe, expect, it } from 'vitest'
import { failureKinds } from '../src/protocol/failure.ts'

const root = join(import.meta.dirname, '..')
const page = await readFile(join(root, 'docs/errors.md'), 'utf8')
const [codes = '', kinds = ''] = page.split('\n## Failure kinds\n')
const headings = /^### (.+)$/gm

/** The codes of the type `EntiaErrorCode`, in its order. */
async function errorCodes(): Promise<readonly string[]> {
  const path = join(root, 'src/base/entia-error.ts')
  for (const statement of parseSync(path, await readFile(path, 'utf8')).program.body) {
    if (statement.type !== 'ExportNamedDeclaration') continue
    const { declaration } = statement
    if (declaration?.type !== 'TSTypeAliasDeclaration' || declaration.id.name !== 'EntiaErrorCode') continue
    if (declaration.typeAnnotation.type !== 'TSUnionType') continue
    return declaration.typeAnnotation.types.flatMap((type) =>
      type.type === 'TSLiteralType' && type.literal.type === 'Literal' ? [String(type.literal.value)] : [],
    )
  }
  return []
}

function namesIn(part: string): readonly string[] {
  return [...part.matchAll(headings)].map(([, name = '']) => name.replaceAll('`', ''))
}

describe('the page on errors', () => {
  it('has one entry for each code, in the order of the type', async () => {
    const known = await errorCodes()
    expect(known.length).toBeGreaterThan(30)
    expect(namesIn(codes)).toEqual(known)
  })

  it('has one entry for each failure kind, in their order', () => {
    expect(namesIn(kinds)).toEqual(failureKinds)
  })

  it('gives with each entry its cause and what to do', () => {
    const entries = page.split(/^### /m).slice(1)
    expect(entries.filter((entry) => !/\*\*Cause\.\*\* \S[^]*\*\*Do\.\*\* \S/.test(entry))).toEqual([])
  })
})
