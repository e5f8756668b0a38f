import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
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
