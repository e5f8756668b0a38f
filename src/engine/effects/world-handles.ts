import { Serial } from '../../base/serial.ts'
import { oneLine } from '../../base/one-line.ts'
import { Handle, HandleText, KeptBy } from '../../../components/agent/handle.ts'
import type { HandleEntry } from '../../protocol/handle.ts'
import { handleName, handleNumber } from '../../rules/handles/handle-name.ts'
import { handlesOf, mayReadHandles } from '../../rules/handles/handles-of.ts'
import { kindOf, maxShapeChars, shapeOf } from '../../rules/handles/shape-of.ts'
import { cutText } from '../../base/cut-text.ts'
import type { HandleStore, KnownHandle } from '../../tools/port.ts'
import type { Entity } from '../../world/component.ts'
import type { Json } from '../../base/json.ts'
import { sha256 } from '../../base/sha256.ts'
import type { World } from '../../world/world.ts'
import type { EffectContext } from './effect-kind.ts'

/** The handles of an agent, for the work of one of its effects. The content is durable before the World knows of it. */
export class WorldHandles implements HandleStore {
  readonly #world: World
  readonly #agent: Entity
  readonly #context: EffectContext
  #ordinal = 0
  /** Handles are given in the order of the calls. */
  readonly #keeping = new Serial()

  constructor(world: World, agent: Entity, context: EffectContext) {
    this.#world = world
    this.#agent = agent
    this.#context = context
  }

  get isReadable(): boolean {
    return mayReadHandles(this.#world, this.#agent)
  }

  async keep(value: Json): Promise<string> {
    const kind = kindOf(value)
    const content = typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value)
    const sizeBytes = Buffer.byteLength(content)
    const shape = shapeOf(value)
    return this.#keeping.run(async () => {
      const { maxKeptBytes, records } = this.#context.values
      const recordPath = this.#pathOf(content)
      const isInWorld = maxKeptBytes !== undefined && sizeBytes <= maxKeptBytes
      if (!isInWorld) await records.put(recordPath, content)
      return this.#note({ kind, recordPath, shape, sizeBytes }, isInWorld ? content : undefined)
    })
  }

  async keepLive(shape: string): Promise<string> {
    return this.#keeping.run(() =>
      this.#note({ isLive: true, shape: cutText(oneLine(shape), maxShapeChars, '…').toWellFormed() }),
    )
  }

  async read(handle: string): Promise<Json | undefined> {
    const number = handleNumber(handle)
    const entity = this.#world.referrers(Handle, this.#agent).find((one) => {
      return this.#world.read(one, Handle).number === number
    })
    if (entity === undefined) return undefined
    const { kind, recordPath } = this.#world.read(entity, Handle)
    if (recordPath === undefined) return undefined
    const kept = this.#world.get(entity, HandleText)?.text ?? (await this.#context.values.records.get(recordPath))?.text
    return kept === undefined || kind === 'text' ? kept : (JSON.parse(kept) as Json)
  }

  list(): readonly KnownHandle[] {
    return handlesOf(this.#world, this.#agent).map(({ isLive, isLost, number, shape }) => {
      return { handle: handleName(number), shape, ...(isLive && { isLive }), ...(isLost && { isLost }) }
    })
  }

  async #note(entry: HandleEntry, text?: string): Promise<string> {
    const { attempt, effect, signal, values, wait } = this.#context
    signal.throwIfAborted()
    const ordinal = this.#ordinal
    const more = text === undefined ? {} : { text }
    await wait(values.enter({ kind: 'handle-kept', attempt, effect, entry, ordinal, ...more }))
    signal.throwIfAborted()
    const handle = this.#world.referrers(KeptBy, effect)[ordinal]
    if (handle === undefined) throw new Error('The call is over: its value was not kept.')
    this.#ordinal++
    return handleName(this.#world.read(handle, Handle).number)
  }

  /** Another content has another path: what a handle names does not change before the World says so. */
  #pathOf(content: string): string {
    const of = [this.#world.name, this.#context.key, this.#ordinal, sha256(content)]
    return `scratchbook/records/handle/handle_${sha256(JSON.stringify(of)).slice(0, 24)}`
  }
}
