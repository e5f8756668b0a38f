import type { Handler, Reply } from '../../servers/loopback.ts'

const usage = { input: 1_200, output: 60 }

/** A small project one of whose tests fails, and another waits while there is a file `busy`, and says so in it. */
export const slugProject = {
  'package.json': '{ "name": "slugs", "type": "module", "scripts": { "test": "node --test" } }\n',
  'slug.js': `/** A title as part of a URL. */
export function slug(title) {
  return title.toLowerCase().replaceAll(' ', '-')
}
`,
  'slug.test.js': `import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { slug } from './slug.js'

test('one word', () => assert.equal(slug('Bees'), 'bees'))
test('two blanks', () => assert.equal(slug('Bees  sleep'), 'bees-sleep'))
test('the disk is free', async () => {
  if (existsSync('busy')) await writeFile('busy', 'waiting')
  while (existsSync('busy')) await setTimeout(50)
})
`,
}

/** A model that mends it: what it does next follows from the last result alone, whatever process asks. */
export const coder: Handler = ({ body }) => next(resultsIn(body['messages']).at(-1))

/** What the tools have answered so far, as JSON. @param messages of a request */
export function resultsIn(messages: unknown): readonly string[] {
  const blocks = (messages as readonly Message[]).flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  return blocks.filter(({ type }) => type === 'tool_result').map(({ content }) => JSON.stringify(content))
}

interface Message {
  readonly content: string | readonly { readonly type: string; readonly content?: unknown }[]
}

function next(result: string | undefined): Reply {
  if (result === undefined) return call('I run the tests first.', 'bash', { command: 'node --test' })
  if (/fail 1/.test(result)) return call('One fails, so I read the code.', 'read_file', { path: 'slug.js' })
  if (/replaceAll\(\/ \+/.test(result)) return call('I run the tests again.', 'bash', { command: 'node --test' })
  if (/export function slug/.test(result)) {
    const change = { path: 'slug.js', old: "replaceAll(' ', '-')", new: "replaceAll(/ +/g, '-')" }
    return call('Each blank becomes a hyphen; several should become one.', 'replace_in_file', change)
  }
  if (/fail 0/.test(result)) return { text: 'All tests pass now.', usage }
  return call('I run the tests again.', 'bash', { command: 'node --test' })
}

let calls = 0

function call(text: string, name: string, input: object): Reply {
  return { text, toolCalls: [{ id: `call_${++calls}`, name, arguments: JSON.stringify(input) }], usage }
}
