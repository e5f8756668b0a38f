import type { ToolCallBlock } from '../../protocol/message.ts'
import { addFields, extraOf, type Fields, unknownFields } from '../extra-fields.ts'
import type { ModelDelta } from '../port.ts'
import { isWholeObject, readArguments } from '../../rules/projection/tool-calls.ts'
import { fieldsOf, textIn, writeJson } from '../wire-values.ts'

interface Draft {
  /** The server's id, or a generated one. */
  readonly id: string
  readonly index: number | undefined
  serverId: string | undefined
  name: string
  raw: string
  readonly extra: Record<string, unknown>
}

interface Piece {
  readonly id: string | undefined
  readonly index: number | undefined
  readonly name: string
  readonly text: string
  readonly extra: Fields
}

const knownFields: ReadonlySet<string> = new Set(['id', 'index', 'function'])
const knownInnerFields: ReadonlySet<string> = new Set(['name', 'arguments'])

/**
 * Assembles the tool calls of a streamed reply. Servers deviate: the same index for all calls or none, no ids, a late name,
 * arguments as an object. A new id begins a new call; so does a name that cannot belong to the call before.
 */
export class ChatCalls {
  readonly #drafts: Draft[] = []
  readonly #position: number
  readonly #adapter: string
  readonly #onDelta: (delta: ModelDelta) => void

  /** @param position makes generated ids unique in the conversation. @param adapter marks fields that are not known */
  constructor(position: number, onDelta: (delta: ModelDelta) => void, adapter = '') {
    this.#position = position
    this.#adapter = adapter
    this.#onDelta = onDelta
  }

  /** Is this call known as a whole, from a server that says it once more? */
  has(delta: object): boolean {
    const { id, name, text } = pieceOf(delta)
    return this.#drafts.some((draft) => {
      return draft.name === name && draft.raw === text && (id === undefined || draft.serverId === id)
    })
  }

  /** @param delta has by protocol an index; the first one of a call an id and a name */
  take(delta: object): void {
    const piece = pieceOf(delta)
    const draft = this.#find(piece) ?? this.#begin(piece)
    draft.serverId ??= piece.id
    const wasNamed = draft.name !== ''
    if (!wasNamed) draft.name = piece.name
    draft.raw += piece.text
    addFields(draft.extra, piece.extra)
    // Holds arguments back until the name is known: listeners get that first.
    if (draft.name === '') return
    if (!wasNamed) this.#onDelta({ type: 'tool-call', id: draft.id, name: draft.name })
    const text = wasNamed ? piece.text : draft.raw
    if (text !== '') this.#onDelta({ type: 'tool-arguments', id: draft.id, text })
  }

  /** @param isCut the token limit cut the reply: the newest call may have lost its arguments */
  blocks(isCut: boolean): ToolCallBlock[] {
    const newest = this.#drafts.at(-1)
    const isIndexed = this.#drafts.every(({ index }) => index !== undefined)
    const drafts = isIndexed ? this.#drafts.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)) : this.#drafts
    return drafts.map((draft) => ({
      type: 'tool-call',
      id: draft.id,
      name: draft.name,
      ...readArguments(draft.raw, isCut && draft === newest),
      ...extraOf(this.#adapter, draft.extra),
    }))
  }

  /** The call that a piece continues. */
  #find(piece: Piece): Draft | undefined {
    const { id, index, name } = piece
    const near = this.#drafts.findLast(
      (draft) => (index === undefined || draft.index === undefined || draft.index === index) && couldBe(draft, id),
    )
    if (near === undefined || beginsAnother(near, piece)) return undefined
    const isKnown = id !== undefined && near.serverId === id
    if (isKnown || name === '' || near.name === '') return near
    if (near.name !== name) return undefined
    // A late id with the name again: the call before had none, and is incomplete.
    if (id !== undefined) return isWholeObject(near.raw) ? undefined : near
    // Some servers repeat the name in each piece; without an index, only within the arguments.
    return index !== undefined || near.raw.trim() !== '' ? near : undefined
  }

  #begin({ id, index }: Piece): Draft {
    const draft: Draft = {
      id: id ?? `call-${this.#position}-${this.#drafts.length}`,
      index,
      serverId: id,
      name: '',
      raw: '',
      extra: {},
    }
    this.#drafts.push(draft)
    return draft
  }
}

function pieceOf(delta: object): Piece {
  const fields = fieldsOf(delta)
  const { id, index, function: said } = fields
  const { name, arguments: written } = fieldsOf(said)
  const inner = unknownFields(fieldsOf(said), knownInnerFields)
  const { type, ...unknown } = unknownFields(fields, knownFields)
  const place = textIn(index) === '' ? index : Number(index)
  return {
    id: textIn(id) || undefined,
    index: typeof place === 'number' && Number.isFinite(place) ? place : undefined,
    name: textIn(name),
    text: typeof written === 'object' && written !== null ? writeJson(written) : textIn(written),
    extra: {
      ...unknown,
      // Functions of the server's own.
      ...(type !== undefined && type !== 'function' && { type }),
      ...(Object.keys(inner).length > 0 && { function: inner }),
    },
  }
}

function couldBe({ serverId }: Draft, id: string | undefined): boolean {
  return id === undefined || serverId === undefined || serverId === id
}

/** Nothing follows complete arguments, so a name with further ones begins another call. */
function beginsAnother({ raw }: Draft, { name, text }: Piece): boolean {
  return name !== '' && text.trim() !== '' && isWholeObject(raw)
}
