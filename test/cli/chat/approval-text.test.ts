import { mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { approvalText, type AskedCall } from '../../../src/cli/chat/approval-text.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { plainLook } from './typed-chat.ts'

async function shown(call: Omit<AskedCall, 'reason'>, cwd = '/'): Promise<string> {
  const lines = await approvalText(call, { cwd, look: plainLook })
  return lines.map(({ text }) => text).join('\n')
}

describe('what is shown of a call', () => {
  it('is the whole command, with what else was given', async () => {
    expect(await shown({ tool: 'bash', arguments: { command: 'cd a\nnpm test', timeoutMs: 5 } })).toBe(
      'bash asks\n  cd a\n  npm test\n  timeoutMs: 5',
    )
  })

  it('is the difference to the file that would be replaced', async () => {
    const cwd = await tempFolder({ 'a.txt': 'one\ntwo\nthree\n' })
    const call = { tool: 'write_file', arguments: { path: 'a.txt', content: 'one\n2\nthree\n' }, operation: 'write' }
    expect(await shown(call, cwd)).toBe(
      'write_file asks (writes)\n  a.txt\n  @@ line 1 @@\n   one\n  -two\n  +2\n   three',
    )
    expect(await readFile(join(cwd, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n')
  })

  it('says what of a file that keeps its line ends would change', async () => {
    const cwd = await tempFolder({ 'a.txt': '\ufeffone\r\ntwo\r\nthree\r\n', 'b.txt': 'one\n' })
    const call = (path: string, content: string) => ({ tool: 'write_file', arguments: { path, content } })
    const diff = 'write_file asks\n  a.txt\n  @@ line 1 @@\n   one\n  -two\n  +2\n   three'
    expect(await shown(call('a.txt', 'one\n2\nthree\n'), cwd)).toBe(diff)
    expect(await shown(call('a.txt', 'one\ntwo\nthree'), cwd)).toMatch('the file has this content already')
    expect(await shown(call('b.txt', 'one\r\n'), cwd)).toMatch('only its line ends change')
  })

  it('is all of a new file, and of a replaced text both', async () => {
    const written = { tool: 'write_file', arguments: { path: 'new.txt', content: 'a\nb\n' } }
    expect(await shown(written, await tempFolder())).toBe('write_file asks\n  new.txt\n  +a\n  +b')
    const replaced = { tool: 'replace_in_file', arguments: { path: 'a.txt', old: 'x', new: 'y', all: true } }
    expect(await shown(replaced)).toBe('replace_in_file asks\n  a.txt\n  (every match)\n  -x\n  +y')
  })

  it('is where each path leads that is a link, or lies behind one', async () => {
    const cwd = await tempFolder({ 'a.txt': 'one\n', rc: 'old\n' })
    await mkdir(join(cwd, 'far'))
    await symlink('rc', join(cwd, 'notes.md'))
    await symlink(join(cwd, 'far'), join(cwd, 'near'))
    await symlink('nothing-yet', join(cwd, 'new.md'))
    const write = (path: string) => shown({ tool: 'write_file', arguments: { path, content: 'x\n' } }, cwd)
    expect(await write('notes.md')).toContain(`write_file asks\n  notes.md leads to ${cwd}/rc\n  notes.md\n`)
    expect(await write('near/x')).toContain(`near/x leads to ${cwd}/far/x\n`)
    expect(await write('new.md')).toContain(`new.md leads to ${cwd}/nothing-yet\n`)
    expect(await write('a.txt')).not.toContain('leads to')
    const moved = { tool: 'move', arguments: { source: 'a.txt', destination: 'near/b' } }
    expect(await shown(moved, cwd)).toContain(`near/b leads to ${cwd}/far/b\n`)
    expect(await shown({ ...moved, leadsTo: { 'a.txt': '/a\u001bb' } }, cwd)).toContain('a.txt leads to /a^[b\n')
  })

  it('says nothing of links above the working folder', async () => {
    const folder = await tempFolder({ 'real/a.txt': 'one\n' })
    await symlink(join(folder, 'real'), join(folder, 'linked'))
    const call = { tool: 'write_file', arguments: { path: 'a.txt', content: 'x\n' } }
    expect(await shown(call, join(folder, 'linked'))).not.toContain('leads to')
  })

  it('is each argument of any other tool', async () => {
    expect(await shown({ tool: 'send', arguments: { to: 'you', parts: [1, 'a'] } })).toBe(
      'send asks\n  to: you\n  parts: [1,"a"]',
    )
  })

  it('says in words what it does, and why it asks', async () => {
    const bash = { tool: 'bash', arguments: { command: 'ls' }, operation: 'exec', dataClass: 'code' }
    const asked = async (call: AskedCall) =>
      (await approvalText(call, { cwd: '/', look: plainLook })).map(({ text }) => text).join('\n')
    expect(await asked({ ...bash, reason: 'default: code/exec/cli' })).toBe(
      'bash asks (runs a command in your project)\n  ls',
    )
    expect(await asked({ ...bash, reason: 'credential path: ~/.ssh' })).toContain(
      'reason: there may be credentials in ~/.ssh',
    )
    const server = { tool: 's__x', arguments: {}, operation: 'unknown', dataClass: 'public' }
    expect(await asked({ ...server, reason: 'default: public/unknown/cli' })).toBe(
      's__x asks (does not say what it changes)',
    )
  })

  it('hides nothing that a terminal would act on', async () => {
    const command = 'echo \u001b[2K\u001b]0;title\u0007 \u202e evil \u3164\r rm'
    const text = await shown({ tool: 'b\u001bash', arguments: { command } })
    expect(text).toBe('b^[ash asks\n  echo ^[[2K^[]0;title^G <U+202E> evil <U+3164>^M rm')
  })
})
