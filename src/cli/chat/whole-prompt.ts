import { once } from 'node:events'
import { fstatSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { UsageError } from '../parsed-words.ts'

/**
 * The prompt of `entia -p`, with what is piped in behind an empty line; `-`: what is piped in alone.
 * @throws UsageError
 */
export async function wholePrompt(
  prompt: string | undefined,
  { stderr, stdin }: { readonly stdin: NodeJS.ReadStream; readonly stderr: NodeJS.WritableStream },
): Promise<string> {
  const isNeeded = prompt === '-' || prompt === undefined
  const tell = (notice: string): void => void stderr.write(`entia: ${notice}\n`)
  const piped = prompt === '-' || isPiped(stdin) ? await pipedText(stdin, { isNeeded, tell }) : ''
  const asked = prompt === '-' ? undefined : prompt
  const parts = [asked, piped.replace(/\s+$/, '')].filter((part) => part !== undefined && part.trim() !== '')
  if (parts.length > 0) return parts.join('\n\n')
  throw new UsageError(
    prompt === undefined
      ? 'entia run needs a prompt: entia run "What is this project?"'
      : 'The prompt that is piped in is empty.',
  )
}

/** Something is piped in: neither a terminal nor a device such as /dev/null. */
function isPiped(stdin: NodeJS.ReadStream): boolean {
  if (stdin.isTTY) return false
  try {
    const stats = fstatSync(0)
    return stats.isFIFO() || stats.isFile() || stats.isSocket()
  } catch {
    return false
  }
}

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
