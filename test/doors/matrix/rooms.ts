import { join } from 'node:path'
import { type ModelRequest, type ScriptedBehaviour, scripted, textOf, VirtualClock } from 'entia'
import { matrixConfigure, type MatrixSessionOptions, matrixRun } from 'entia/matrix'
import { onTestFinished } from 'vitest'
import { LocalHomeserver } from '../../../examples/matrix/homeserver.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

/** Answers with what was said. */
const echo: ScriptedBehaviour = ({ messages }) => `You said: ${textOf(messages.at(-1))}`

type Configured = Partial<Parameters<typeof matrixConfigure>[0]>

/**
 * A homeserver with the users ada and eve, the room `lab` of ada and the bot, and folders in which the bot is configured to answer
 * ada.
 */
export async function lab(behaviour: ScriptedBehaviour = echo, configured: Configured | false = {}) {
  const server = new LocalHomeserver()
  const url = await server.start()
  onTestFinished(() => server.close())
  const [ada, eve, bot] = [server.addUser('ada', 'a'), server.addUser('eve', 'e'), server.addUser('bot', 'secret')]
  const room = server.addRoom('lab', [ada])
  const folder = await tempFolder()
  const env = {
    HOME: join(folder, 'home'),
    ENTIA_CONFIG_DIR: join(folder, 'config'),
    ENTIA_DATA_DIR: join(folder, 'data'),
    ENTIA_CACHE_DIR: join(folder, 'cache'),
  }
  const clock = new VirtualClock()
  const requests: ModelRequest[] = []
  const script = scripted((request, context) => {
    requests.push(request)
    return typeof behaviour === 'function' ? behaviour(request, context) : 'Done.'
  })
  const notices: string[] = []
  const options = {
    env,
    cwd: folder,
    model: 'script/m',
    tools: [] as MatrixSessionOptions['tools'],
    host: { clock, models: { script } },
    onNotice: (notice: string) => void notices.push(notice),
  } satisfies MatrixSessionOptions
  const configuration = { server: url, user: 'bot', password: 'secret', room: '#lab:local', users: [ada], env, clock }
  if (configured !== false) await matrixConfigure({ ...configuration, ...configured })
  return { server, ada, eve, bot, room, folder, env, clock, requests, notices, options, configuration }
}

export type Lab = Awaited<ReturnType<typeof lab>>

/** What the bot said in a room, in order. */
export function replies({ bot, server }: Lab, roomId: string): string[] {
  return server.said(roomId, bot).map(({ content }) => String(content['body']))
}

/** A running bot, past its first sync; stopped when the test is over. */
export async function running(at: Lab, options: Parameters<typeof matrixRun>[0] = {}) {
  const stopping = new AbortController()
  const syncs = (): number => at.server.requests.filter((each) => each === 'GET /v3/sync').length
  const before = syncs()
  const ended = matrixRun({ ...at.options, signal: stopping.signal, ...options })
  ended.catch(() => undefined)
  const stop = async (): Promise<number> => {
    stopping.abort()
    return ended
  }
  onTestFinished(() => stop().then(ignore, ignore))
  await Promise.race([at.server.until(() => syncs() > before + 1), ended])
  return { ended, stop }
}

function ignore(): void {}
