import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scripted, textOf } from 'entia'
import {
  addObserver,
  installSkill,
  listSkills,
  observerProgress,
  removeSkill,
  sessionSetup,
  testSkill,
  turn,
} from 'entia/runtime'

// A skill is a folder with instructions. It is tested, installed, read by an agent when a task fits it, and removed.

const home = await mkdtemp(join(tmpdir(), 'entia-skills-'))
const cwd = join(home, 'project')
const env = { ...process.env, HOME: home, ENTIA_CONFIG_DIR: join(home, 'config'), ENTIA_DATA_DIR: join(home, 'data') }
await mkdir(cwd)

const source = join(home, 'release-notes')
await mkdir(join(source, 'scripts'), { recursive: true })
await writeFile(
  join(source, 'SKILL.md'),
  `---
name: release-notes
description: Writes release notes by the rules of this house. Use it before a release.
---

One line a change, for users. The newest version first; template.md has the form.
`,
)
await writeFile(join(source, 'template.md'), '## VERSION\n\n- CHANGE\n')
await writeFile(
  join(source, 'scripts', 'template.test.mjs'),
  `import { ok } from 'node:assert'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
test('the template has a place for the version', async () => ok((await readFile('template.md', 'utf8')).includes('VERSION')))
`,
)

const { errors, failed, passed } = await testSkill(source)
console.log(`Tested: ${passed} passed, ${failed} failed, ${errors} errors`)
const name = await installSkill(source, { env })
await symlink('/etc', join(source, 'etc'))
await installSkill(source, { env, force: true }).catch(({ code, details }) => console.log(code, details.problems))
for (const skill of await listSkills(undefined, { cwd, env })) console.log(skill.name, skill.scope, skill.valid)

// The model finds the skill in its system prompt, and reads it before it writes.
const writer = scripted(({ messages, system }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return `It says: ${textOf(last).split('\n').at(-1)}`
  console.log(system.split('\n').find((line) => line.startsWith('- release-notes')))
  return { toolCalls: [{ name: 'skill', arguments: { name: 'release-notes' } }] }
})
const session = await sessionSetup({
  cwd,
  env,
  model: 'script/writer',
  host: { models: { script: writer } },
  store: false,
})
addObserver(session, observerProgress({ write: (line) => process.stdout.write(line) }))
const { reply } = await turn('Write the notes of version 2.', session)
console.log(reply)
await session.close()

console.log('Removed:', await removeSkill(name, { env }))
await rm(home, { recursive: true })

/*
Prints:
Tested: 1 passed, 0 failed, 0 errors
invalid-skill [ 'etc is a link that leads out of the skill, or nowhere.' ]
release-notes user true
- release-notes: Writes release notes by the rules of this house. Use it before a release.
  [skill] (7 lines)
It says: One line a change, for users. The newest version first; template.md has the form.
Removed: true
*/
