import { constants } from 'node:os'
import { join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { EntiaError } from '../../index.ts'
import { Chat } from './chat.ts'
import type { ChatArguments } from './chat-arguments.ts'
import { isFromOutside } from '../interruption.ts'
import { LineHistory } from './line-history.ts'
import { type Look, lookOf } from './look.ts'
import { folders } from '../../runtime/config/folders.ts'
import { listSessions, removeSession } from '../../runtime/chat/session-setup.ts'
import { openChat } from './open-chat.ts'

export interface ChatPlace {
  readonly environment: NodeJS.ProcessEnv
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
}

/** `entia chat` on a terminal: returns the exit code. @throws UsageError, EntiaError */
export async function chatCommand(args: ChatArguments, place: ChatPlace): Promise<number> {
  const { environment, stderr, stdin, stdout } = place
  const here = resolve(args.cwd ?? '.')
  const look = lookOf(stdout, environment)
  const places = folders(environment, here)
  const resume = await chosenKey(args, { environment, here, look, stdin, stdout })
  if (resume === 'none') return 0
  const history = new LineHistory(join(places.data, 'history.jsonl'))
  let chat: Chat | undefined
  const approve: Chat['approve'] = (...asked) => chat?.approve(...asked) ?? false
  const onNotice = (notice: string): void => {
    if (chat === undefined) stderr.write(`entia: ${notice}\n`)
    else chat.notice(notice)
  }
  const opening = { args: { ...args, resume }, cwd: here, environment, approve, onNotice }
  const pages = new ChatPages(args.inspect, onNotice)
  const first = await pages.shown(await openChat(opening))
  // A stored chat works in the folder that it was begun in.
  const cwd = first.cwd ?? here
  const cooked = look.isDumb === true ? cookedKeys(stdin) : undefined
  const opened = (chat = new Chat({
    input: cooked ?? stdin,
    out: stdout,
    look,
    cwd,
    environment,
    isVerbose: args.verbose,
    hasStatus: environment['TERM'] !== 'dumb',
    history: history.read(),
    allowAlways: async (tool, calls) => {
      const { allowAlways } = await import('../../runtime/config/allow-always.ts')
      return `written into ${await allowAlways(tool, calls, places.config)}: permissions.${tool}`
    },
    remember: (line) => history.add(line),
    // The shell stops what it started together, such as npx and this program.
    ...(process.platform !== 'win32' && { suspend: () => void process.kill(0, 'SIGTSTP') }),
    markdown: async () => new (await import('./markdown.ts')).MarkdownStream(look),
    sessions: {
      first,
      isResumed: args.resume !== undefined,
      another: async () => pages.shown(await openChat({ ...opening, cwd, args: { ...args, resume: undefined } })),
      forget: (key) => forgetChat(key, environment),
    },
  }))
  const putBack = diverted(stderr, (text) => opened.notice(text))
  try {
    return await untilSignal(opened, place, cooked !== undefined)
  } finally {
    cooked?.destroy()
    putBack()
    await pages.close()
  }
}

/** Removes what is stored of a chat: nothing, as long as it has not begun to work. */
async function forgetChat(key: string, env: NodeJS.ProcessEnv): Promise<void> {
  try {
    await removeSession(key, { env })
  } catch (error) {
    if (!(error instanceof EntiaError) || error.code !== 'unknown-session') throw error
  }
}

interface Choosing extends Pick<ChatPlace, 'environment' | 'stdin' | 'stdout'> {
  readonly here: string
  readonly look: Look
}

/** The chat to go on with; `undefined`: a new one. Of several chats of the folder the user chooses, which may be `'none'`. */
async function chosenKey(
  { resume }: ChatArguments,
  { environment, here, look, stdin, stdout }: Choosing,
): Promise<string | undefined> {
  if (resume !== '') return resume
  const sessions = (await listSessions({ env: environment })).filter(({ cwd }) => cwd === here)
  if (sessions.length < 2) return sessions[0]?.key ?? 'latest'
  const { chooseChat } = await import('./choose-chat.ts')
  return (await chooseChat(sessions, { input: stdin, out: stdout, look })) ?? 'none'
}

type OpenedChat = Awaited<ReturnType<typeof openChat>>

/** The inspector's pages of the chats, if they are wanted. */
class ChatPages {
  readonly #isWanted: boolean
  readonly #tell: (notice: string) => void
  readonly #pages: { close(): Promise<void> }[] = []

  constructor(isWanted: boolean, tell: (notice: string) => void) {
    this.#isWanted = isWanted
    this.#tell = tell
  }

  async shown(session: OpenedChat): Promise<OpenedChat> {
    if (!this.#isWanted) return session
    const { inspect } = await import('../../inspector/index.ts')
    const page = await inspect(session.runner, { actions: true })
    this.#pages.push(page)
    this.#tell(`the inspector is at ${page.url}`)
    return session
  }

  async close(): Promise<void> {
    for (const page of this.#pages) await page.close()
  }
}

/** What is written to stderr would break the line that is being typed: on a terminal it goes above it. */
function diverted(stderr: NodeJS.WriteStream, tell: (text: string) => void): () => void {
  if (!stderr.isTTY) return () => undefined
  const write = stderr.write.bind(stderr)
  stderr.write = (chunk: string | Uint8Array): boolean => {
    tell(Buffer.from(chunk).toString().trimEnd())
    return true
  }
  return () => (stderr.write = write)
}

/** Runs the chat; a signal that ends programs ends it in order, and so does a terminal that is gone. */
async function untilSignal(chat: Chat, { stdin, stdout }: ChatPlace, isCooked: boolean): Promise<number> {
  const leave = (name: NodeJS.Signals): void => {
    const exitCode = 128 + constants.signals[name]
    void chat.leave(exitCode, isFromOutside(exitCode))
  }
  const gone = (): void => leave('SIGHUP')
  const names: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', ...(isCooked ? [] : (['SIGINT'] as const))]
  for (const name of names) process.on(name, leave)
  for (const stream of [stdin, stdout]) stream.on('error', gone)
  if (!isCooked) stdin.on('end', gone)
  try {
    return await chat.run()
  } finally {
    for (const name of names) process.off(name, leave)
  }
}

/**
 * The keys of a terminal that sends whole lines, as one sends them that is read key by key: Enter, Ctrl-D for the end of the
 * input, Ctrl-C for an interruption. Destroyed, it leaves the terminal alone.
 */
function cookedKeys(input: NodeJS.ReadableStream): PassThrough {
  const keys = new PassThrough()
  const typed = (text: string): void => void keys.write(text.replaceAll('\n', '\r'))
  const ended = (): void => void keys.write('\u0004')
  const interrupted = (): void => void keys.write('\u0003')
  input.setEncoding('utf8')
  input.on('data', typed)
  input.on('end', ended)
  process.on('SIGINT', interrupted)
  input.resume()
  keys.once('close', () => {
    input.off('data', typed)
    input.off('end', ended)
    input.pause()
    process.off('SIGINT', interrupted)
  })
  return keys
}
