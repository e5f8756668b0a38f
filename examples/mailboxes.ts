import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  agent,
  Conversation,
  defineComponent,
  defineTool,
  type Entity,
  type Message,
  Runner,
  scripted,
  sqliteStore,
  standardSystems,
  textOf,
  user,
  World,
} from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

// 500 agents in one world, each with a mailbox. A hundred letters go round, from one agent to the next; in the middle the
// program stops, and another one goes on from the disk. No letter is lost, and none comes twice.

const agents = 500
const letters = 100
const apart = agents / letters
const hops = 20

/** Where letters to an agent are addressed. */
const Mailbox = defineComponent('Mailbox', z.strictObject({ address: z.int() }))

const text = (letter: number, hop: number): string => `Letter ${letter}, hop ${hop}`

/** A world of agents that stand in a ring. Every fifth one has a letter. */
function create(): World {
  const world = new World({ name: 'office', systems: standardSystems() })
  for (let address = 0; address < agents; address++) {
    const messages = address % apart === 0 ? [user(text(address / apart, 1))] : []
    world.spawn(...agent({ model: 'clerk/any', tools: [send], messages }), Mailbox({ address }))
  }
  return world
}

// Sends on all letters that came since it last did so, each with the next number on it.
const clerk = scripted(({ messages }) => {
  const all = [...messages]
  const news = all.slice(all.findLastIndex(({ role }) => role === 'assistant') + 1).map(lettersIn)
  const toolCalls = news.flat().flatMap(([letter, hop]) => {
    return hop < hops ? { name: 'send', arguments: { letter, hop: hop + 1 } } : []
  })
  return toolCalls.length > 0 ? { toolCalls } : 'Sent.'
})

function lettersIn(message: Message): (readonly [letter: number, hop: number])[] {
  if (message.role !== 'user') return []
  return [...textOf(message).matchAll(/Letter (\d+), hop (\d+)/g)].map(([, letter, hop]) => [
    Number(letter),
    Number(hop),
  ])
}

let runner: Runner
let byAddress: readonly Entity[] = []

const send = defineTool({
  name: 'send',
  description: 'Puts a letter into the next mailbox.',
  input: z.object({ letter: z.int(), hop: z.int() }),
  // After a crash it runs again, and posts the same under the same id, which counts once.
  restart: 'keyed',
  run: async ({ letter, hop }, { post }) => {
    const next = byAddress[(letter * apart + hop - 1) % agents] ?? 0
    await post({ kind: 'message', agent: next, message: user(text(letter, hop)) })
    return 'Sent.'
  },
})

const folder = await mkdtemp(join(tmpdir(), 'entia-'))

/** Lets the world go on, until so many turns have ended or nothing is left to do. */
async function go(untilTurns = Infinity): Promise<void> {
  const store = sqliteStore({ folder })
  const options = { store, models: { clerk }, tools: [send], systems: standardSystems() }
  runner = await Runner.open({ ...options, name: 'office', components: { ...components, Mailbox }, create })
  byAddress = runner.world.query(Mailbox)
  let answered = 0
  const enough = new Promise<void>((resolve) => {
    runner.on('turn-ended', () => void (++answered === untilTurns && resolve()))
  })
  await runner.start()
  await Promise.race([runner.idle(), enough])
  await runner.stop()
  await store.close()
}

await go(300)
await go()

const arrived = byAddress.flatMap((entity) => runner.world.read(entity, Conversation).map(textOf))
const seen = arrived.filter((line) => line.startsWith('Letter'))
console.log(`${byAddress.length} mailboxes, ${seen.length} letters in them, ${new Set(seen).size} of them different`)
console.log(`At their last hop: ${seen.filter((line) => line.endsWith(`hop ${hops}`)).length}`)
await rm(folder, { recursive: true })

/*
Prints:
500 mailboxes, 2000 letters in them, 2000 of them different
At their last hop: 100
*/
