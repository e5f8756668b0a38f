import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAgent, defineTool, scripted, sqliteStore, textOf } from 'entia'
import { z } from 'zod'

// An agent is killed while its tool runs. The same program, started again, finishes the turn.

const countBoxes = defineTool({
  name: 'count_boxes',
  description: 'Counts the boxes in a room.',
  input: z.object({ room: z.string() }),
  // Counting changes nothing, so a restart may simply run it again.
  restart: 'pure',
  async run({ room }, { sleep }) {
    console.log(`  counting in the ${room}`)
    process.send?.(room)
    await sleep(200)
    return room === 'cellar' ? 12 : 30
  },
})

// Stands in for a model: it has the rooms counted one after the other, then adds up.
const clerk = scripted(({ messages }) => {
  const counts = messages.filter(({ role }) => role === 'tool').map((message) => Number(textOf(message)))
  const room = ['cellar', 'attic'][counts.length]
  if (room === undefined) return `There are ${counts.reduce((sum, count) => sum + count)} boxes.`
  return { toolCalls: [{ name: 'count_boxes', arguments: { room } }] }
})

/** The program, the same for the first start and for each later one. */
async function main(folder: string): Promise<void> {
  const store = sqliteStore({ folder })
  const models = { script: clerk }
  const counter = await createAgent({ store, name: 'house', model: 'script/clerk', tools: [countBoxes], models })
  // The id makes the question count once: asked again after a restart, it gives the answer of the same turn.
  const { text } = await counter.ask('How many boxes are there?', { id: 'question-1' })
  console.log(text)
  await counter.close()
  await store.close()
}

const [, , folderOfParent] = process.argv
if (folderOfParent !== undefined) await main(folderOfParent)
else {
  const folder = await mkdtemp(join(tmpdir(), 'entia-'))
  const child = fork(import.meta.filename, [folder])
  child.on('message', (room) => void (room === 'attic' && child.kill('SIGKILL')))
  const [, signal] = await once(child, 'exit')
  console.log(`Ended by ${signal}. Started again:`)
  await main(folder)
  await rm(folder, { recursive: true })
}

/*
Prints:
  counting in the cellar
  counting in the attic
Ended by SIGKILL. Started again:
  counting in the attic
There are 42 boxes.
*/
