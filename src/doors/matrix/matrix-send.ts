import { randomUUID } from 'node:crypto'
import type { Clock } from '../../engine/loop/clock.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { noticesTo } from '../../runtime/notices.ts'
import {
  callback,
  checkOptions,
  environment,
  filledText,
  oneOf,
  refuseMisfit,
  type ShapesOf,
} from '../../base/option-shapes.ts'
import { connect } from './connection.ts'
import { clockShape } from './matrix-config.ts'
import { messageParts } from './message-parts.ts'

/** Options of `matrixSend`. */
export interface SendOptions {
  /** The id or alias of a room that the account is in. @default the configured one */
  readonly roomId?: string | undefined
  /** @default 'm.text' */
  readonly msgtype?: 'm.text' | 'm.notice' | 'm.emote' | undefined
  /** Where folders are looked up. @default the environment of the process */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** @default real time */
  readonly clock?: Clock | undefined
  readonly onNotice?: ((notice: string) => unknown) | undefined
}

const sendShapes: ShapesOf<SendOptions> = {
  roomId: filledText,
  msgtype: oneOf('m.text', 'm.notice', 'm.emote'),
  env: environment,
  clock: clockShape,
  onNotice: callback,
}

/**
 * Sends a text; over 30,000 bytes, in several messages that are cut at line ends. Gives the id of the first one's event.
 *
 * @throws by its promise: `invalid-argument`, `matrix-not-configured`, `matrix-failed`, `missing-peer`
 */
export async function matrixSend(text: string, options: SendOptions = {}): Promise<string> {
  refuseMisfit('matrixSend', 'text', text, filledText)
  checkOptions('matrixSend', options, sendShapes)
  const { clock, env, msgtype = 'm.text' } = options
  const onNotice = noticesTo(options.onNotice)
  const { config, home } = await connect({ clock, env, onNotice })
  const { roomId: asked = config.room } = options
  const roomId = asked.startsWith('#') ? await resolved(asked) : asked
  const sent: string[] = []
  const id = randomUUID()
  for (const [index, body] of messageParts(text).entries()) {
    sent.push(await home.send(roomId, { msgtype, body }, `entia-send-${id}-${index}`))
  }
  return sent[0] ?? ''

  async function resolved(alias: string): Promise<string> {
    const path = `/directory/room/${encodeURIComponent(alias)}`
    const { room_id: found } = (await home.request({ method: 'GET', path })) as { readonly room_id?: unknown }
    if (typeof found === 'string') return found
    throw new EntiaError('matrix-failed', `The homeserver does not say which room ${alias} is.`, { room: alias })
  }
}
