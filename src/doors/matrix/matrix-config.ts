import { chmod, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type Folders, folders, writePrivateFile } from '../../runtime/config/folders.ts'
import { schemaIssues } from '../../rules/text/schema-issues.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { lazily } from '../../base/lazily.ts'
import { type Clock, realClock } from '../../engine/loop/clock.ts'
import {
  checkOptions,
  environment,
  filledText,
  flag,
  listOf,
  objectWith,
  type Shape,
  type ShapesOf,
} from '../../base/option-shapes.ts'
import { Homeserver, logIn } from './homeserver.ts'
import { readIfThere } from './read-if-there.ts'

const userId = /^@[^:\s]+:\S+$/

const MatrixFile = lazily(() =>
  z.strictObject({
    version: z.literal(1),
    server: z.url(),
    userId: z.string().regex(userId),
    deviceId: z.string().min(1),
    accessToken: z.string().min(1),
    password: z.string().optional(),
    /** The id of the room that it was configured with. */
    room: z.string().min(1),
    users: z.array(z.string().regex(userId)).min(1),
    approvers: z.array(z.string().regex(userId)),
    autoApproveAsks: z.boolean(),
    provider: z.string().optional(),
    model: z.string().optional(),
    tools: z.array(z.string()).optional(),
  }),
)

/** `matrix.json`. */
export type MatrixConfig = z.infer<ReturnType<typeof MatrixFile>>

/** Options of `matrixConfigure`. */
export interface ConfigureOptions {
  /** The homeserver's address, such as `https://matrix.example.org`. */
  readonly server: string
  /** The account's name or id. */
  readonly user: string
  readonly password: string
  /** The id or alias of a room that is not encrypted. */
  readonly room: string
  /** The ids of those who are answered, and whose invitations are taken. */
  readonly users: readonly string[]
  /** The ids of those whose reactions decide about tool calls. @default none: calls that need a person are declined */
  readonly approvers?: readonly string[] | undefined
  /** Lets calls that need a person run, except those with personal data or credentials. @default false */
  readonly autoApproveAsks?: boolean | undefined
  /** Keeps the password, to log in again when the token is refused. @default true */
  readonly storePassword?: boolean | undefined
  /** @default the configuration's */
  readonly provider?: string | undefined
  /** @default the configuration's */
  readonly model?: string | undefined
  /** Names and categories of built-in tools. @default the configuration's */
  readonly tools?: readonly string[] | undefined
  /** Where folders are looked up. @default the environment of the process */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** @default real time */
  readonly clock?: Clock | undefined
}

/** What `matrixConfigure` has done. */
export interface Configured {
  /** Of `matrix.json`. */
  readonly path: string
  /** The account's id. */
  readonly userId: string
  /** The room's id. */
  readonly roomId: string
}

const user: Shape = {
  wanted: 'a user id such as @ada:example.org',
  fits: (value) => typeof value === 'string' && userId.test(value),
}
const users: Shape = {
  wanted: 'a list of user ids such as @ada:example.org, at least one',
  fits: (value) => listOf(user).fits(value) && (value as readonly unknown[]).length > 0,
}
const server: Shape = {
  wanted: 'an address such as https://matrix.example.org',
  fits: (value) => typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? ''),
}
export const clockShape = objectWith('a clock, such as realClock', 'now', 'date', 'at')

const configureShapes: ShapesOf<ConfigureOptions> = {
  server,
  user: filledText,
  password: { ...filledText, wanted: 'a text that is not empty (it is not shown here)' },
  room: filledText,
  users,
  approvers: listOf(user),
  autoApproveAsks: flag,
  storePassword: flag,
  provider: filledText,
  model: filledText,
  tools: listOf(filledText),
  env: environment,
  clock: clockShape,
}
const needed = ['server', 'user', 'room', 'users'] as const

/**
 * Logs in, joins the room, and writes `matrix.json` in the config folder (0600). Where that fails, an earlier file stays.
 *
 * @throws by its promise: `invalid-argument`, `matrix-failed`, `encrypted-room`, `missing-peer`, `store-failed`
 */
export async function matrixConfigure(options: ConfigureOptions): Promise<Configured> {
  checkConfigureOptions(options)
  const {
    approvers = [],
    autoApproveAsks = false,
    clock = realClock,
    env,
    password,
    room,
    storePassword = true,
  } = options
  const account = await logIn({ server: options.server, user: options.user, password }, { clock })
  const home = await Homeserver.of(account, { clock })
  try {
    const roomId = await home.join(room)
    if ((await home.state(roomId, 'm.room.encryption')) !== undefined) {
      const what = `The room ${room} is encrypted, and messages in it cannot be read.`
      throw new EntiaError('encrypted-room', `${what} Make a room without encryption, and name that one.`, { room })
    }
    const { model, provider, tools } = options
    const config: MatrixConfig = {
      version: 1,
      ...account,
      ...(storePassword && { password }),
      room: roomId,
      users: [...options.users],
      approvers: [...approvers],
      autoApproveAsks,
      ...(provider !== undefined && { provider }),
      ...(model !== undefined && { model }),
      ...(tools !== undefined && { tools: [...tools] }),
    }
    return { path: await writeConfig(config, folders(env)), userId: account.userId, roomId }
  } catch (error) {
    // The device that was made for nothing.
    await home.request({ method: 'POST', path: '/logout', body: {} }).catch(() => undefined)
    throw error
  }
}

function checkConfigureOptions(options: ConfigureOptions): void {
  const { password, ...rest } = Object(options) as ConfigureOptions
  checkOptions('matrixConfigure', rest as ConfigureOptions, configureShapes)
  const missing = needed.find((name) => rest[name] === undefined)
  const isPassword = configureShapes.password.fits(password)
  if (missing === undefined && isPassword) return
  const name = missing ?? 'password'
  const { wanted } = configureShapes[name]
  throw new EntiaError('invalid-argument', `matrixConfigure: ${name} must be ${wanted}.`, { option: name })
}

export async function writeConfig(config: MatrixConfig, { config: folder }: Folders): Promise<string> {
  const path = join(folder, 'matrix.json')
  await writePrivateFile(path, `${JSON.stringify(config, undefined, 2)}\n`)
  return path
}

/**
 * Reads `matrix.json`. One that others may read is tightened, and reported.
 *
 * @throws by its promise: `matrix-not-configured`, `config-invalid`, `store-failed`
 */
export async function readConfig(
  { config: folder }: Folders,
  onNotice: (notice: string) => unknown,
): Promise<MatrixConfig> {
  const path = join(folder, 'matrix.json')
  const text = await readIfThere(path)
  if (text === undefined) {
    const what = `Matrix is not configured: there is no file ${path}.`
    throw new EntiaError('matrix-not-configured', `${what} Run: entia matrix configure`, { path })
  }
  await tighten(path, onNotice)
  const read = MatrixFile().safeParse(parsed(text, path))
  if (read.success) return read.data
  const what = `${path} cannot be used: ${schemaIssues(read.error)}`
  throw new EntiaError('config-invalid', `${what} Run entia matrix configure to write it anew.`, { path })
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The error of the parser shows some of the text, which may be the password.
    const what = `${path} is not JSON. Run entia matrix configure to write it anew.`
    throw new EntiaError('config-invalid', what, { path, ...(error instanceof Error && { name: error.name }) })
  }
}

/** Windows has no such modes. */
async function tighten(path: string, onNotice: (notice: string) => unknown): Promise<void> {
  if (process.platform === 'win32') return
  const mode = (await stat(path)).mode & 0o777
  if ((mode & 0o077) === 0) return
  await chmod(path, 0o600)
  onNotice(
    `${path} could be read by others (mode ${mode.toString(8)}): it is 600 now. Change the password if it may be known.`,
  )
}
