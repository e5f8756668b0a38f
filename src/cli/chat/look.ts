import { styleText } from 'node:util'

export type Style = Parameters<typeof styleText>[0]

/** How text looks on an output: colours or none, and which characters it can show. */
export interface Look {
  readonly paint: (style: Style, text: string) => string
  /** The output shows ASCII only. */
  readonly isAscii: boolean
  /** A terminal that cannot move its cursor: each line is written once, below the others. @default false */
  readonly isDumb?: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

/** No colours on a dumb terminal, with `NO_COLOR`, or where the output is no terminal. */
export function lookOf(out: NodeJS.WritableStream, environment: Environment): Look {
  const isDumb = environment['TERM'] === 'dumb'
  return {
    isDumb,
    paint: (style, text) => (isDumb || text === '' ? text : styleText(style, text, { stream: out })),
    isAscii: isAsciiLocale(environment),
  }
}

/** Does the locale say that the terminal shows no UTF-8? One that says nothing is taken for UTF-8, as containers have none. */
function isAsciiLocale({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const locale = [LC_ALL, LC_CTYPE, LANG].find((name) => name !== undefined && name !== '')
  return locale !== undefined && !/utf-?8/i.test(locale)
}

const spelt: Readonly<Record<string, string>> = {
  '…': '...',
  '⏎': '\\n',
  '─': '-',
  '│': '|',
  '•': '*',
  '›': '>',
  '✓': '+',
  '✗': 'x',
  '—': '--',
  '–': '-',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '→': '->',
  '×': 'x',
  ß: 'ss',
  '\u00a0': ' ',
}

/** The text in ASCII: accents go, known signs are spelt, anything else is `?`. */
export function asciiText(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/^[\u0000-\u007f]*$/.test(text)) return text
  return text
    .replaceAll(/[\u0080-\uffff]/g, (sign) => spelt[sign] ?? sign)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\u0000-\u007f]/gu, '?') // oxlint-disable-line no-control-regex
}
