import type { ToolCallBlock } from '../../protocol/message.ts'
import type { ModelDelta } from '../port.ts'
import { isWholeObject, readArguments } from '../../rules/projection/tool-calls.ts'
import { fieldsOf, textIn, writeJson } from '../wire-values.ts'

/** A call while it arrives. */
interface Draft {
  /** The server's id; until it has given one, an id made here. */
  readonly id: string
  readonly index: number | undefined
  serverId: string | undefined
  name: string
  raw: string
}

interface Piece {
  readonly id: string | undefined
  readonly index: number | undefined
  readonly name: string
  readonly text: string
}

/**
 * Assembles the tool calls of one streamed reply. Servers differ from the protocol: they send the same index for all calls
 * or none, no ids, the name late, or the arguments as an object. A new id begins a new call; so does a piece with a name that
 * cannot belong to the call before it.
 */
export class ChatCalls {
  readonly #drafts: Draft[] = []
  readonly #position: number
  readonly #onDelta: (delta: ModelDelta) => void

  /** @param position makes ids that are made here unique in the conversation */
  constructor(position: number, onDelta: (delta: ModelDelta) => void) {
    this.#position = position
    this.#onDelta = onDelta
  }

  /** @param delta a piece of a call: the protocol has an index in each, an id and a name in the first */
  take(delta: object): void {
    const piece = pieceOf(delta)
    const draft = this.#find(piece) ?? this.#begin(piece)
    draft.serverId ??= piece.id
    const wasNamed = draft.name !== ''
    if (!wasNamed) draft.name = piece.name
    draft.raw += piece.text
    // Listeners get the name first: what came before it is held back until then.
    if (draft.name === '') return
    if (!wasNamed) this.#onDelta({ type: 'tool-call', id: draft.id, name: draft.name })
    const text = wasNamed ? piece.text : draft.raw
    if (text !== '') this.#onDelta({ type: 'tool-arguments', id: draft.id, text })
  }

  /** @param isCut the reply was cut at the token limit: the newest call may have lost its arguments */
  blocks(isCut: boolean): ToolCallBlock[] {
    const newest = this.#drafts.at(-1)
    const isIndexed = this.#drafts.every(({ index }) => index !== undefined)
    const drafts = isIndexed ? this.#drafts.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)) : this.#drafts
    return drafts.map((draft) => ({
      type: 'tool-call',
      id: draft.id,
      name: draft.name,
      ...readArguments(draft.raw, isCut && draft === newest),
    }))
  }

  /** The call that a piece continues, if any. */
  #find(piece: Piece): Draft | undefined {
    const { id, index, name } = piece
    const near = this.#drafts.findLast(
      (draft) => (index === undefined || draft.index === undefined || draft.index === index) && couldBe(draft, id),
    )
    if (near === undefined || beginsAnother(near, piece)) return undefined
    const isKnown = id !== undefined && near.serverId === id
    if (isKnown || name === '' || near.name === '') return near
    if (near.name !== name) return undefined
    // An id that comes late, with the name again: the call before it has had none, and is not complete.
    if (id !== undefined) return isWholeObject(near.raw) ? undefined : near
    // The name again, as some servers say it in each piece; without an index only in the midst of the arguments.
    return index !== undefined || near.raw.trim() !== '' ? near : undefined
  }

  #begin({ id, index }: Piece): Draft {
    const draft: Draft = {
      id: id ?? `call-${this.#position}-${this.#drafts.length}`,
      index,
      serverId: id,
      name: '',
      raw: '',
    }
    this.#drafts.push(draft)
    return draft
  }
}

function pieceOf(delta: object): Piece {
  const { id, index, function: said } = fieldsOf(delta)
  const { name, arguments: written } = fieldsOf(said)
  return {
    id: textIn(id) || undefined,
    index: typeof index === 'number' ? index : undefined,
    name: textIn(name),
    text: typeof written === 'object' && written !== null ? writeJson(written) : textIn(written),
  }
}

function couldBe({ serverId }: Draft, id: string | undefined): boolean {
  return id === undefined || serverId === undefined || serverId === id
}

/** Nothing can follow complete arguments, so a name with further ones belongs to another call. */
function beginsAnother({ raw }: Draft, { name, text }: Piece): boolean {
  return name !== '' && text.trim() !== '' && isWholeObject(raw)
}
