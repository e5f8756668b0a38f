/**
 * A world in SQLite whose process ends in the midst of a tool call, and which goes on: what of the package depends most
 * on the Node beneath it. `npm run test:package` copies it to where the packed package is installed; it writes beside itself.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { agent, defineTool, EntiaError, lastText, Runner, scripted, sqliteStore, standardSystems, World } from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

let calls = 0
let wasCalled = () => {}
const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  restart: 'pure',
  run({ a, b }, { signal }) {
    calls++
    wasCalled()
    if (calls > 1) return a + b
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('called off')))
    })
  },
})
const model = scripted(({ messages }) => {
  if (messages.at(-1).role === 'user') return { toolCalls: [{ name: 'add', arguments: { a: 2, b: 3 } }] }
  return 'It is 5.'
})
const host = { models: { script: model }, tools: [add] }
const options = { folder: join(import.meta.dirname, 'worlds') }

const store = sqliteStore(options)
const world = new World({ name: 'sums', systems: standardSystems() })
world.spawn(...agent({ model: 'script/x', tools: [add], messages: 'What is 2 + 3?' }))
const runner = new Runner(world, { ...host, store })
const isCalled = new Promise((resolve) => {
  wasCalled = resolve
})
await runner.start()
await isCalled
await runner.stop()
await store.close()

const reopened = sqliteStore(options)
const [saved] = await reopened.list()
assert.equal(saved?.name, 'sums')
assert.equal(saved.isBusy, true, 'The tool call that was cut off is in flight.')
const resumed = await Runner.open({ ...host, store: reopened, name: 'sums', systems: standardSystems(), components })
await resumed.start()
await resumed.idle()
const [speaker] = resumed.world.query(components.Llm)
assert.equal(lastText(resumed.world, speaker), 'It is 5.')
assert.equal(calls, 2)
await resumed.stop()
assert.equal((await reopened.list())[0]?.isBusy, false)

await checkTranscripts()
await reopened.close()

/** Words are found where SQLite has FTS5, and refused with what to do where it has not: never lost. */
async function checkTranscripts() {
  const key = 'agents/clerk/turns/1.jsonl'
  const text = JSON.stringify({ role: 'user', text: 'What is 2 + 3?' })
  await reopened.appendTranscript('sums', key, [{ text, searchable: 'What is 2 + 3?' }], { from: 0 })
  assert.deepEqual(await reopened.transcript('sums', key), [text])
  try {
    const hits = await reopened.searchTranscript('sums', [key], 'what', { limit: 5 })
    assert.deepEqual(hits, [{ key, index: 0, text }])
  } catch (error) {
    assert.ok(error instanceof EntiaError, error)
    assert.equal(error.code, 'store-failed')
    assert.match(error.message, /no full-text search \(FTS5\)\. Use Node 22\.16 or newer/)
  }
}
