import { join } from 'node:path'
import {
  memoryStore,
  Runner,
  SessionPool,
  fileTools,
  type ModelProvider,
  type Tool,
  VirtualClock,
  World,
} from '../../../src/index.ts'
import { pacedTool, readerModel } from '../../../examples/reader/reader.ts'
import { readConfig } from '../../../src/doors/context.ts'
import { leadParts, restoring } from '../../../src/cli/lead.ts'

/** Where the main job waits until the test lets it go on. */
export type Place = 'first call' | 'some words' | 'more words'

export interface MainJob {
  readonly runner: Runner
  /** Resolves once the job waits there. */
  readonly reached: (place: Place) => Promise<void>
  readonly goOn: (place: Place) => void
}

/** Of one reply. */
const someWords = 12
const moreWords = 20

/**
 * What `npm start` runs: a lead and its researchers, with the reader's scripted model and real files, here on a virtual clock,
 * so that each run is the same as every other. It waits at its places for the test.
 */
export async function mainJob(): Promise<MainJob> {
  const places = new Map<
    Place,
    { readonly reached: PromiseWithResolvers<void>; readonly gate: PromiseWithResolvers<void> }
  >()
  const place = (name: Place) => {
    const known = places.get(name) ?? { reached: Promise.withResolvers<void>(), gate: Promise.withResolvers<void>() }
    places.set(name, known)
    return known
  }
  const waitAt = async (name: Place): Promise<void> => {
    place(name).reached.resolve()
    await place(name).gate.promise
  }
  const folder = join(import.meta.dirname, '../../../systems')
  const { grepFiles, listFiles, readFile } = fileTools({ folder })
  const tools = [listFiles, grepFiles, readFile].map(oneAtATime()).map(pacedTool)
  const runner = await Runner.open({
    ...restoring,
    store: memoryStore(),
    name: 'ask-1',
    models: { scripted: waiting(readerModel({ isPaced: true }), waitAt) },
    sessionPool: new SessionPool({ cap: 2 }),
    tools,
    clock: new VirtualClock({ dateMs: Date.UTC(2026, 4, 4, 9) }),
    record: true,
    create: () => {
      const world = new World({
        name: 'ask-1',
        seed: 11,
        systems: restoring.systems,
        components: Object.values(restoring.components) as never,
      })
      const question = { text: 'What wakes an agent that sleeps?', places: [] }
      world.spawn(...leadParts({ question, model: 'scripted/reader', folder, tools, config: readConfig({}) }))
      return world
    },
  })
  return { runner, reached: (name) => place(name).reached.promise, goOn: (name) => place(name).gate.resolve() }
}

/** Files are read in an order that does not hang on the disk. */
function oneAtATime(): (tool: Tool) => Tool {
  let last: Promise<unknown> = Promise.resolve()
  return ({ call, declaration }) => ({
    declaration,
    call: (input, context) => {
      const result = last.then(() => call(input, context))
      last = Promise.resolve(result).catch(() => undefined)
      return result
    },
  })
}

function waiting(model: ModelProvider, waitAt: (place: Place) => Promise<void>): ModelProvider {
  let isBegun = false
  return {
    ...model,
    async call(request, context) {
      const isLead = request.tools.some(({ name }) => name === 'subagent')
      if (!isLead) return model.call(request, context)
      if (!isBegun) await waitAt('first call')
      isBegun = true
      let words = 0
      return model.call(request, {
        ...context,
        onDelta: (delta) => {
          if (delta.type === 'text') words++
          context.onDelta(delta)
        },
        sleep: async (ms) => {
          if (words === someWords) await waitAt('some words')
          if (words === moreWords) await waitAt('more words')
          return context.sleep(ms)
        },
      })
    },
  }
}
