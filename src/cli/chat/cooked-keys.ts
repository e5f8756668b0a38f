import { PassThrough } from 'node:stream'

/**
 * The keys of a terminal that sends whole lines, as one sends them that is read key by key: Enter, Ctrl-D for the end of the
 * input, Ctrl-C for an interruption. Destroyed, it leaves the terminal alone.
 */
export function cookedKeys(input: NodeJS.ReadableStream): PassThrough {
  const keys = new PassThrough()
  const typed = (text: string): void => void keys.write(text.replaceAll('\n', '\r'))
  const ended = (): void => void keys.write('\u0004')
  const interrupted = (): void => void keys.write('\u0003')
  input.setEncoding('utf8')
  input.on('data', typed)
  input.on('end', ended)
  process.on('SIGINT', interrupted)
  keys.once('close', () => {
    input.off('data', typed)
    input.off('end', ended)
    input.pause()
    process.off('SIGINT', interrupted)
  })
  return keys
}
