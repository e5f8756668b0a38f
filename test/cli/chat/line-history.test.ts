import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LineHistory } from '../../../src/cli/chat/line-history.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

describe('the history of typed lines', () => {
  it('is kept for later chats, the newest first and each once, for the user alone', async () => {
    const path = join(await tempFolder(), 'data/history.jsonl')
    const history = new LineHistory(path)
    for (const line of ['one', 'two\nlines', 'one']) history.add(line)
    expect(new LineHistory(path).read()).toEqual(['one', 'two\nlines'])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('is closed to others where it was open to them', async () => {
    const folder = await tempFolder({ 'history.jsonl': '"one"\n' })
    const path = join(folder, 'history.jsonl')
    await chmod(path, 0o644)
    expect(new LineHistory(path).read()).toEqual(['one'])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it.for([
    `use sk-ant-api03-${'x'.repeat(40)} for it`,
    `export OPENAI_API_KEY=sk-proj-${'x1'.repeat(20)}`,
    `!curl -H "Authorization: Basic ${'eHg6'.repeat(4)}" https://example.com`,
    `git clone https://ada:${'p'.repeat(9)}@example.com/x.git`,
    `the token is ghp_${'a1'.repeat(18)}`,
    `AKIA${'ABCD'.repeat(4)}`,
    `log in with eyJ${'a'.repeat(12)}.eyJ${'b'.repeat(12)}.${'c'.repeat(12)}`,
    'db_password: hunter22',
    'my password is hunter22',
    '-----BEGIN OPENSSH PRIVATE KEY-----\nabc',
    'mysql --password hunter22',
  ])('keeps no secret: %s', async (line) => {
    const path = join(await tempFolder(), 'history.jsonl')
    const history = new LineHistory(path)
    for (const each of ['one', line, 'explain how the password is hashed, and task-list-of-the-week']) history.add(each)
    expect(history.read().at(-1)).toBe('one')
    expect(history.read()).not.toContain(line)
  })

  it('leaves out what is torn or is no text', async () => {
    const folder = await tempFolder({ 'history.jsonl': '"one"\n{"a":1}\n"tor' })
    expect(new LineHistory(join(folder, 'history.jsonl')).read()).toEqual(['one'])
  })

  it('is shortened once it is long', async () => {
    const path = join(await tempFolder(), 'history.jsonl')
    const lines = Array.from({ length: 5_001 }, (_, index) => `line ${index}`)
    await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    expect(new LineHistory(path).read()).toHaveLength(1_000)
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(1_001)
  })

  it('that cannot be written is no error', async () => {
    const path = join(await tempFolder(), 'history.jsonl')
    await mkdir(path)
    const history = new LineHistory(path)
    history.add('one')
    expect(history.read()).toEqual([])
    // Nothing can be made in there, and Node's own way to make folders never gives up.
    new LineHistory('/proc/none/below/history.jsonl').add('one')
  })
})
