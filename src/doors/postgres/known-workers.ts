import { z } from 'zod'
import type { Abilities } from '../../engine/effects/host.ts'
import { hadByAny } from '../../engine/fleet/board.ts'
import { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { PeerState } from '../../stores/postgres/port.ts'
import { lazily } from '../../base/lazily.ts'
import { fingerprint } from '../../world/random.ts'

/** What a worker tells the others that it can. */
const Said = lazily(() =>
  z.object({
    worlds: z.array(z.string()),
    tools: z.array(z.unknown()),
    providers: z.array(z.string()),
    dispatcher: z.string().default('postgres'),
  }),
)

export interface WorkerAbilities extends Abilities {
  /** Worlds that it makes, by the first part of their names. */
  readonly worlds: readonly string[]
  /** The name of what gives it sessions. @default 'postgres' */
  readonly dispatcher?: string | undefined
}

interface Peer {
  readonly id: number
  /** What it has said. */
  readonly text: string
  readonly can: WorkerAbilities
}

/** The workers of a fleet that are alive, as far as one of them knows. */
export class KnownWorkers {
  /** The oldest first. */
  #peers: readonly Peer[] = []
  #me = 0
  #has: Abilities = hadByAny([])

  /** What any of them has. */
  get has(): Abilities {
    return this.#has
  }

  /** How many of them are older than this one; -1, before it knows them. */
  get age(): number {
    return this.#peers.findIndex(({ id }) => id === this.#me)
  }

  /** What several say alike, and have said before, is read once. Says whether one that was alive is so no more. */
  meet(me: number, workers: PeerState['workers']): { readonly isOneGone: boolean } {
    this.#me = me
    const before = this.#peers
    const isKnown = workers.every(({ can, id }, index) => before[index]?.id === id && before[index].text === can)
    if (isKnown && workers.length === before.length) return { isOneGone: false }
    const read = new Map(before.map(({ can, text }) => [text, can]))
    this.#peers = workers.map(({ can: text, id }) => {
      const can = read.get(text) ?? abilitiesIn(text)
      read.set(text, can)
      return { id, text, can }
    })
    this.#has = hadByAny(this.#peers.map(({ can }) => can))
    return { isOneGone: before.some(({ id }) => !workers.some((worker) => worker.id === id)) }
  }

  /** How many of them come before this one, in an order of each place of a world. @param most is counted at most */
  turnOf(place: string, isAble: (can: WorkerAbilities) => boolean = () => true, most = Infinity): number {
    const mine = fingerprint(`${this.#me} ${place}`)
    let turn = 0
    for (const peer of this.#peers) {
      if (turn >= most) break
      const its = fingerprint(`${peer.id} ${place}`)
      if (peer.id !== this.#me && isAble(peer.can) && (its < mine || (its === mine && peer.id < this.#me))) turn++
    }
    return turn
  }
}

export function abilitiesText({ dispatcher, providers, tools, worlds }: WorkerAbilities): string {
  return JSON.stringify({ worlds, tools: [...tools.values()], providers: [...providers], dispatcher })
}

/** One of a version that says it otherwise can nothing that is known here. */
export function abilitiesIn(text: string): WorkerAbilities {
  try {
    const { dispatcher, providers, tools, worlds } = Said().parse(JSON.parse(text))
    // No world could have a tool whose declaration is none.
    const declared = tools.flatMap((tool) => ToolDeclaration().safeParse(tool).data ?? [])
    const byName = new Map(declared.map((tool) => [tool.name, tool]))
    return { worlds, tools: byName, providers: new Set(providers), dispatcher }
  } catch {
    return { worlds: [], ...hadByAny([]) }
  }
}
