import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import {
  type ConfigureOptions,
  matrixConfigure,
  matrixPoll,
  matrixRequestFlush,
  matrixRun,
  matrixSend,
  matrixSessions,
} from '../doors/matrix/index.ts'
import { didYouMean } from '../base/near-names.ts'
import type { Interruption } from './interruption.ts'
import { parsedWords, UsageError, wholeNumber } from './parsed-words.ts'
import { typedSecret } from './typed-secret.ts'

const matrixHelp = `Have an agent answer in Matrix rooms what its users say there.

  entia matrix configure       log in, join a room, and write matrix.json
  entia matrix run             answer until it is stopped, one chat a room
  entia matrix poll            answer what is new, once; for a timer
  entia matrix send TEXT       say something; - reads it from what is piped in
  entia matrix flush           have the running bot archive its chats

configure asks on a terminal for what these leave out:

  --server URL        the homeserver, such as https://matrix.example.org
  --user NAME         the account of the agent
  --room ROOM         id or alias of a room without encryption
  --users LIST        answer these users: @ada:example.org,@eve:example.org
  --approvers LIST    let a 👍 of these run a tool call (default: none)
  --auto-approve-asks let calls run that need a yes, except with personal data
  --no-store-password do not keep the password to log in again
  --password-stdin    read the password from what is piped in
  --provider, --model, --tools         as in entia --help; kept in matrix.json

The password is asked for on the terminal, or read from ENTIA_MATRIX_PASSWORD.
It is no option, because other users of a machine see the options of programs.

run and poll:

  --timeout SECONDS   how long the homeserver waits for something new
                      (default: run 30, poll 0)
  --sessions          poll: go on with the chat of each room
  --cwd FOLDER        folder to work in (default: this one)
  --provider, --model, --tools         over those of matrix.json
  --verbose           a line for each tool call

send:

  --room ROOM         another room than the configured one
  --notice            as a notice, which other bots do not answer

  --json              configure, poll, send: print one JSON object
  --help              show this help

Exit codes: 0 done, 1 failed, 2 wrong arguments or configuration,
130 interrupted.
`

export interface MatrixPlace {
  readonly environment: NodeJS.ProcessEnv
  readonly stdin: NodeJS.ReadStream
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
  readonly interruption: () => Interruption
}

const verbs = ['configure', 'run', 'poll', 'send', 'flush'] as const

const options = {
  server: { type: 'string' },
  user: { type: 'string' },
  room: { type: 'string' },
  users: { type: 'string' },
  approvers: { type: 'string' },
  'auto-approve-asks': { type: 'boolean' },
  'no-store-password': { type: 'boolean' },
  'password-stdin': { type: 'boolean' },
  provider: { type: 'string' },
  model: { type: 'string' },
  tools: { type: 'string' },
  timeout: { type: 'string' },
  sessions: { type: 'boolean' },
  cwd: { type: 'string' },
  verbose: { type: 'boolean' },
  notice: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

const models = ['provider', 'model', 'tools'] as const
const answering = [...models, 'timeout', 'cwd', 'verbose'] as const
/** Which options each command has. */
const allowed: Readonly<Record<(typeof verbs)[number], readonly (keyof typeof options)[]>> = {
  configure: [
    'server',
    'user',
    'room',
    'users',
    'approvers',
    'auto-approve-asks',
    'no-store-password',
    'password-stdin',
    'json',
    ...models,
  ],
  run: answering,
  poll: [...answering, 'sessions', 'json'],
  send: ['room', 'notice', 'json'],
  flush: [],
}

type Values = ReturnType<typeof read>['values']

function read(words: readonly string[]) {
  return parsedWords(words, options)
}

/** `entia matrix`: returns the exit code. @throws UsageError, and what the functions of `entia/matrix` throw */
export async function matrixCommand(words: readonly string[], place: MatrixPlace): Promise<number> {
  const { positionals, values } = read(words)
  const { stdout } = place
  if (values.help === true) {
    stdout.write(matrixHelp)
    return 0
  }
  const [given, ...rest] = positionals
  if (given === undefined) throw new UsageError(`entia matrix needs a command: ${verbs.join(', ')}.`)
  const verb = verbs.find((each) => each === given)
  if (verb === undefined)
    throw new UsageError(`There is no command 'entia matrix ${given}'.${didYouMean(given, verbs)}`)
  const foreign = (Object.keys(values) as (keyof typeof options)[]).find((name) => !allowed[verb].includes(name))
  if (foreign !== undefined) throw new UsageError(`entia matrix ${verb} has no option --${foreign}.`)
  if (verb === 'send') return send(rest, values, place)
  if (rest.length > 0) throw new UsageError(`entia matrix ${verb} takes no more words, got ${rest.join(' ')}.`)
  if (verb === 'configure') return configure(values, place)
  if (verb === 'run') return run(values, place)
  if (verb === 'poll') return poll(values, place)
  await matrixRequestFlush({ env: place.environment })
  stdout.write('The running entia matrix run archives its chats after its present sync.\n')
  return 0
}

async function configure(values: Values, place: MatrixPlace): Promise<number> {
  const { environment: env, stdout } = place
  const asked = await missing(values, place)
  const written = await matrixConfigure({
    ...asked,
    password: await passwordOf(values, place, asked.user),
    approvers: listOf(values.approvers),
    autoApproveAsks: values['auto-approve-asks'],
    storePassword: values['no-store-password'] !== true,
    provider: values.provider,
    model: values.model,
    tools: listOf(values.tools),
    env,
  })
  if (values.json === true) stdout.write(`${JSON.stringify(written)}\n`)
  else
    stdout.write(
      `${written.userId} answers ${asked.users.join(', ')} in ${asked.room}.\nWritten: ${written.path}\nTo begin: entia matrix run\n`,
    )
  return 0
}

const questions = {
  server: 'Homeserver, such as https://matrix.example.org: ',
  user: 'Account of the agent: ',
  room: 'Room, such as #lab:example.org: ',
  users: 'Who is answered, such as @ada:example.org: ',
} as const

/** What configuring needs, asked for on a terminal where the options leave it out. @throws UsageError */
async function missing(
  values: Values,
  { stderr, stdin }: MatrixPlace,
): Promise<Pick<ConfigureOptions, 'server' | 'user' | 'room' | 'users'>> {
  const found = { server: '', user: '', room: '', users: '', ...values }
  const names = (Object.keys(questions) as (keyof typeof questions)[]).filter((name) => found[name].trim() === '')
  if (names.length > 0 && !stdin.isTTY)
    throw new UsageError(`entia matrix configure needs ${names.map((name) => `--${name}`).join(', ')}.`)
  if (names.length > 0) {
    const terminal = createInterface({ input: stdin, output: stderr as NodeJS.WritableStream })
    try {
      for (const name of names) found[name] = await terminal.question(questions[name])
    } finally {
      terminal.close()
    }
  }
  const { room, server, user, users } = found
  return { server: server.trim(), user: user.trim(), room: room.trim(), users: listOf(users) ?? [] }
}

async function passwordOf(values: Values, place: MatrixPlace, user: string): Promise<string> {
  const { environment, stdin } = place
  const fromVariable = environment['ENTIA_MATRIX_PASSWORD']
  if (values['password-stdin'] === true) {
    if (!stdin.isTTY) return (await text(stdin)).replace(/\r?\n$/, '')
    throw new UsageError('--password-stdin reads what is piped in, and nothing is.')
  }
  if (fromVariable !== undefined && fromVariable !== '') return fromVariable
  if (stdin.isTTY) return typedSecret(`Password of ${user} (it is not shown): `, place)
  throw new UsageError(
    'entia matrix configure needs a password: set ENTIA_MATRIX_PASSWORD, or pipe it in with --password-stdin.',
  )
}

function answeringOptions(values: Values, { environment, stderr }: MatrixPlace) {
  const seconds = wholeNumber('--timeout', values.timeout, 0)
  return {
    timeoutMs: seconds === undefined ? undefined : seconds * 1_000,
    own: {
      env: environment,
      cwd: values.cwd,
      provider: values.provider,
      model: values.model,
      tools: listOf(values.tools),
      verbose: values.verbose,
      onNotice: (notice: string) => stderr.write(`entia: ${notice}\n`),
    },
  }
}

async function run(values: Values, place: MatrixPlace): Promise<number> {
  const { own, timeoutMs } = answeringOptions(values, place)
  const { exitCode, signal } = place.interruption()
  place.stderr.write('Listening to the rooms. Ctrl-C stops it.\n')
  const replies = await matrixRun({ ...own, timeoutMs, signal })
  place.stderr.write(`Stopped after ${replies} ${replies === 1 ? 'reply' : 'replies'}.\n`)
  // A service that is told to stop, and stops, has not failed.
  return exitCode() === terminated ? 0 : exitCode()
}

const terminated = 143

async function poll(values: Values, place: MatrixPlace): Promise<number> {
  const { own, timeoutMs } = answeringOptions(values, place)
  const sessions = values.sessions === true ? matrixSessions(own) : undefined
  try {
    const replies = await matrixPoll(sessions === undefined ? { ...own, timeoutMs } : { sessions, timeoutMs })
    const shown =
      values.json === true ? JSON.stringify({ replies }) : `${replies} ${replies === 1 ? 'reply' : 'replies'}`
    place.stdout.write(`${shown}\n`)
  } finally {
    await sessions?.close()
  }
  return 0
}

async function send(rest: readonly string[], values: Values, place: MatrixPlace): Promise<number> {
  const { environment: env, stderr, stdin, stdout } = place
  const said = rest.length === 1 && rest[0] === '-' ? await text(stdin) : rest.join(' ')
  if (said.trim() === '') throw new UsageError('entia matrix send needs a text: entia matrix send "Dinner is ready."')
  const eventId = await matrixSend(said, {
    env,
    roomId: values.room,
    msgtype: values.notice === true ? 'm.notice' : 'm.text',
    onNotice: (notice) => stderr.write(`entia: ${notice}\n`),
  })
  stdout.write(`${values.json === true ? JSON.stringify({ eventId }) : eventId}\n`)
  return 0
}

function listOf(words: string | undefined): string[] | undefined {
  return words?.split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim()]))
}
