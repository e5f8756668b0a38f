import { UsageError } from './parsed-words.ts'

export interface SecretPlace {
  readonly stdin: NodeJS.ReadStream
  readonly stderr: { write(text: string): unknown }
}

const enough = new Set(['\r', '\n', '\u0004'])
const erasing = new Set(['\u007F', '\b'])

/** Asks on a terminal for something that nobody may read there: what is typed is not shown. @throws UsageError after Ctrl-C */
export async function typedSecret(question: string, { stderr, stdin }: SecretPlace): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const typed: string[] = []
  const read = (chunk: string): void => {
    for (const char of chunk) {
      if (char === '\u0003') return reject(new UsageError('It was not entered.'))
      if (enough.has(char)) return resolve(typed.join(''))
      if (erasing.has(char)) typed.pop()
      else if (char >= ' ') typed.push(char)
    }
  }
  // Before the question: who sees it may type.
  stdin.setRawMode(true).setEncoding('utf8').on('data', read).resume()
  stderr.write(question)
  try {
    return await promise
  } finally {
    stdin.off('data', read).pause().setRawMode(false)
    stderr.write('\n')
  }
}
