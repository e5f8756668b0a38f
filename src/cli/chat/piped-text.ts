import { once } from 'node:events'
import { text } from 'node:stream/consumers'

export interface PipedOptions {
  /** Without it there is no prompt: it is waited for, however long that takes. */
  readonly isNeeded: boolean
  /** Says what a user should know. */
  readonly tell: (notice: string) => void
  /** How long to wait for a first byte, in milliseconds of real time. @default 5,000 */
  readonly silenceMs?: number
}

/** What is piped in, to its end. Empty where nothing comes for a while: a program may give a pipe that it never writes to. */
export async function pipedText(
  input: NodeJS.ReadableStream & { destroy?(): unknown },
  { isNeeded, silenceMs = 5_000, tell }: PipedOptions,
): Promise<string> {
  const { promise: silent, resolve } = Promise.withResolvers<'silent'>()
  const timer = setTimeout(() => resolve('silent'), silenceMs)
  try {
    const first = await Promise.race([once(input, 'readable').then(() => 'begun' as const), silent])
    if (first === 'silent' && !isNeeded) {
      input.destroy?.()
      tell(
        `nothing was piped in for ${silenceMs / 1_000} s, and the prompt goes without it. Close the input with < /dev/null.`,
      )
      return ''
    }
    if (first === 'silent') tell('waiting for the end of the piped input.')
    return await text(input)
  } finally {
    clearTimeout(timer)
  }
}
