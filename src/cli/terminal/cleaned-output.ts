import { plainText } from '../../tools/files/clean-text.ts'

// oxlint-disable-next-line no-control-regex
const styleCodes = /(\u001b\[[\d;]*m)/

/**
 * Cleans all that is written to a terminal from now on, by any author: models, tools, files, servers, libraries. A
 * file or pipe gets it as it is.
 *
 * @param keepsStyles whether the program itself writes colours: then codes for them pass
 */
export function cleanTerminal(stream: NodeJS.WriteStream, keepsStyles = false): void {
  if (!stream.isTTY) return
  const write = stream.write.bind(stream)
  const decoder = new TextDecoder()
  const cleaned = (text: string): string =>
    keepsStyles
      ? text
          .split(styleCodes)
          .map((part, at) => (at % 2 === 1 ? part : plainText(part)))
          .join('')
      : plainText(text)
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    const done = rest.find((each) => typeof each === 'function')
    return write(cleaned(text), done as (() => void) | undefined)
  }
}
