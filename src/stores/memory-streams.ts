import type { Streams, StreamedText, WorldName, WrittenText } from './port.ts'

/** A world is watched for so long after somebody has asked for its texts. */
export const watchLeaseMs = 5_000

interface Watched {
  untilMs: number
  readonly number: number
  texts: readonly WrittenText[]
}

/** Streams of worlds that are driven and watched in one process. */
export function memoryStreams(): Streams {
  return new MemoryStreams()
}

class MemoryStreams implements Streams {
  readonly #watched = new Map<string, Watched>()
  #count = 0

  async watch(worlds: Parameters<Streams['watch']>[0]): Promise<readonly (readonly WrittenText[])[]> {
    return worlds.map(({ after, ...name }) => {
      const watched = this.#living(name) ?? { untilMs: 0, number: ++this.#count, texts: [] }
      watched.untilMs = performance.now() + watchLeaseMs
      this.#watched.set(keyOf(name), watched)
      return watched.texts.filter(({ id }) => id > after)
    })
  }

  async watched(worlds: readonly WorldName[]): Promise<readonly (number | undefined)[]> {
    return worlds.map((name) => this.#living(name)?.number)
  }

  async write(texts: readonly (WorldName & StreamedText)[]): Promise<void> {
    for (const { root, world, ...text } of texts) {
      const watched = this.#living({ root, world })
      if (watched === undefined) continue
      const kept = watched.texts.filter((each) => !isReplacedBy(each, text))
      watched.texts = text.line === '' ? kept : [...kept, { ...text, id: ++this.#count }]
    }
  }

  #living(name: WorldName): Watched | undefined {
    const key = keyOf(name)
    const watched = this.#watched.get(key)
    if (watched === undefined || watched.untilMs >= performance.now()) return watched
    this.#watched.delete(key)
    return undefined
  }
}

function isReplacedBy(text: StreamedText, { effect, epoch, first }: StreamedText): boolean {
  return text.epoch < epoch || (text.epoch === epoch && text.effect === effect && first === 0)
}

function keyOf({ root, world }: WorldName): string {
  return JSON.stringify([root ?? world, world])
}
