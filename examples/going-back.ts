// A user takes back what they said last, and what its answer wrote.

import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scripted } from 'entia'
import { sessionSetup, turn } from 'entia/runtime'

const cwd = await mkdtemp(join(tmpdir(), 'entia-going-back-'))
const notes = join(cwd, 'notes.md')
await writeFile(notes, 'Bees sleep at night.')
const env = { HOME: cwd, ENTIA_CONFIG_DIR: join(cwd, 'config'), ENTIA_DATA_DIR: join(cwd, 'data') }
const model = scripted(({ messages }) =>
  messages.at(-1)?.role === 'user'
    ? { toolCalls: [{ name: 'write_file', arguments: { path: 'notes.md', content: 'Bees never sleep.' } }] }
    : 'I corrected it.',
)
const session = await sessionSetup({
  cwd,
  env,
  provider: 'scripted',
  model: 'x',
  host: { models: { scripted: model } },
  permissions: { write_file: 'allow' },
})
await turn('Bees never sleep.', session)
console.log(await readFile(notes, 'utf8'))

// What it would do.
const { commands, files, isSummaryDropped } = await session.rewindPlan(1)
console.log(
  files.map(({ action, state }) => `${action}: ${state}`),
  commands,
  isSummaryDropped,
)

// The newest message is taken back, and files that tools have written since are put back.
const done = await session.rewind(1, { files: true })
console.log(
  done.files.map(({ isDone }) => isDone),
  session.history.length,
)
console.log(await readFile(notes, 'utf8'))
await session.close()

/* Prints:
Bees never sleep.
[ 'put-back: as-written' ] 0 false
[ true ] 0
Bees sleep at night.
*/
