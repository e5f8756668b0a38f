import { constants } from 'node:os'
import { join, resolve } from 'node:path'
import { Chat } from './chat.ts'
import type { ChatArguments } from './chat-arguments.ts'
import { LineHistory } from './line-history.ts'
import { lookOf } from './look.ts'
import { folders, removeSession } from '../../runtime/index.ts'
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
  const cwd = resolve(args.cwd ?? '.')
  const look = lookOf(stdout, environment)
  const history = new LineHistory(join(folders(environment, cwd).data, 'history.jsonl'))
  let chat: Chat | undefined
  const approve: Chat['approve'] = (...asked) => chat?.approve(...asked) ?? false
  const onNotice = (notice: string): void => void stderr.write(`entia: ${notice}\n`)
  const opening = { args, cwd, environment, approve, onNotice }
  const first = await openChat(opening)
  const opened = (chat = new Chat({
    input: stdin,
    out: stdout,
    look,
    cwd,
    isVerbose: args.verbose,
    history: history.read(),
    remember: (line) => history.add(line),
    // The shell stops what it started together, such as npx and this program.
    ...(process.platform !== 'win32' && { suspend: () => void process.kill(0, 'SIGTSTP') }),
    markdown: async () => new (await import('./markdown.ts')).MarkdownStream(look),
    sessions: {
      first,
      isResumed: args.resume !== undefined,
      another: () => openChat({ ...opening, args: { ...args, resume: undefined } }),
      forget: (key) => removeSession(key, { env: environment }),
    },
  }))
  return untilSignal(opened, place)
}

/** Runs the chat; a signal that ends programs ends it in order, and so does a terminal that is gone. */
async function untilSignal(chat: Chat, { stdin, stdout }: ChatPlace): Promise<number> {
  const leave = (name: NodeJS.Signals): void => void chat.leave(128 + constants.signals[name])
  const gone = (): void => leave('SIGHUP')
  const names = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const
  for (const name of names) process.on(name, leave)
  for (const stream of [stdin, stdout]) stream.on('error', gone)
  try {
    return await chat.run()
  } finally {
    for (const name of names) process.off(name, leave)
  }
}
