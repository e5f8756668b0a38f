import { parse, type ParserPlugin } from '@babel/parser'

export type SyntaxTree = ReturnType<typeof parse>
export type Statement = SyntaxTree['program']['body'][number]

/** What a text is to be read as. */
export type Language = 'code' | 'declarations' | 'typescript'

const plugins: Readonly<Record<Language, ParserPlugin[]>> = {
  code: [],
  declarations: [['typescript', { dts: true }], 'decorators'],
  typescript: ['typescript', 'decorators'],
}

/** The syntax tree of a text, as far as it has one; `undefined` when it cannot be read at all. */
export function syntaxTree(text: string, language: Language): SyntaxTree | undefined {
  try {
    return parse(text, {
      sourceType: language === 'code' ? 'script' : 'module',
      allowImportExportEverywhere: language === 'code',
      allowAwaitOutsideFunction: true,
      allowUndeclaredExports: true,
      errorRecovery: language !== 'code',
      plugins: plugins[language],
    })
  } catch {
    // A syntax error, or a text that is nested too deeply.
    return undefined
  }
}
