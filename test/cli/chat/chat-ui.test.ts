import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { TypedChat, plainLook } from './typed-chat.ts'

const call = { tool: 'bash', arguments: { command: 'npm test' }, reason: 'configured: bash', mayRemember: true }
const ofCommand = { commandStart: 'npm test', rule: { command: 'npm test', places: [] } }

describe('the line of a chat', () => {
  it('is a message with Enter, and goes on in the next line behind a backslash', async () => {
    const chat = new TypedChat()
    chat.type('first\\\rsecond')
    await chat.screen.until('› first\n  second')
    chat.type('\r')
    await chat.screen.until(/^›$/m)
    expect(chat.submitted).toEqual(['first\nsecond'])
  })

  it('takes a pasted block as one text, which is not sent before Enter', async () => {
    const chat = new TypedChat()
    chat.type('\u001b[200~one\r\ntwo\tthree\n\u001b[201~')
    await chat.screen.until('› one\n  two    three')
    expect(chat.submitted).toEqual([])
    chat.type('four\r')
    await chat.screen.until(/^›$/m)
    expect(chat.submitted).toEqual(['one\ntwo\tthree\nfour'])
  })

  it('keeps a pasted text as it was, also where it holds what would end a line', async () => {
    const chat = new TypedChat()
    const text = 'icon \ue000\u2028two\u2029\tthree\n\n  emoji 👩‍👩‍👧 漢字'
    chat.type(`\u001b[200~${text.replaceAll('\n', '\r')}\u001b[201~`)
    await chat.screen.until('漢字')
    chat.type('\u001b[D\u001b[C.\u0008\r')
    await chat.screen.until(/^›$/m)
    chat.type('\u001b[A')
    await chat.screen.until('漢字')
    chat.type('\r')
    await chat.screen.until(/^›$/m)
    expect(chat.submitted).toEqual([text, text])
  })

  it('is lines that arrive at once, as a terminal sends a paste that does not say so', async () => {
    const chat = new TypedChat()
    chat.type('Fix this:\rTypeError: x\r\n')
    chat.type('\tat main \\\r')
    chat.type('end\r')
    await chat.screen.until(/^ {2}end$/m)
    expect(chat.submitted).toEqual([])
    chat.type('Thanks.')
    await chat.screen.until('Thanks.')
    chat.type('\r')
    await chat.screen.until(/^›$/m)
    expect(chat.submitted).toEqual(['Fix this:\nTypeError: x\n\tat main \\\nend\nThanks.'])
  })

  it('is sent by an Enter behind which no text follows at once', async () => {
    const chat = new TypedChat()
    const texts = ['one', 'two', 'three']
    for (const [index, end] of ['\r', '\r\n', '\r\u001b[C'].entries()) {
      chat.type(`${texts[index]}${end}`)
      await expect.poll(() => chat.submitted.length).toBeGreaterThan(index)
    }
    expect(chat.submitted).toEqual(texts)
  })

  it.for([
    ['Shift-Enter in the protocol of kitty', '\u001b[13;2u'],
    ['Shift-Enter in that of xterm', '\u001b[27;2;13~'],
    ['Alt-Enter', '\u001b\r'],
    ['Ctrl-J', '\n'],
  ])('goes on in the next line with %s', async ([, key]) => {
    const chat = new TypedChat()
    chat.type(`one${key}two`)
    await chat.screen.until('› one\n  two')
    chat.type('\r')
    await chat.screen.until(/^›$/m)
    expect(chat.submitted).toEqual(['one\ntwo'])
  })

  it('asks the terminal for its keys, and gives it back as it was', () => {
    const chat = new TypedChat()
    expect(chat.sent).toMatch(/\[\?2004h.*\[>1u.*\[>4;1m/)
    chat.ui.close()
    expect(chat.sent).toMatch(/\[>4;0m.*\[<u.*\[\?2004l$/)
  })

  it('shows a long pasted block as a note, and sends all of it', async () => {
    const chat = new TypedChat()
    const block = Array.from({ length: 500 }, (_, index) => `line ${index}\n`).join('')
    chat.type(`Why? \u001b[200~${block}\u001b[201~`)
    await chat.screen.until('› Why? [pasted 1: 500 lines]')
    chat.type('\r')
    await chat.screen.until(/^›$/m)
    expect(chat.submitted).toEqual([`Why? ${block}`])
  })

  it('has a history, which the arrow keys walk through', async () => {
    const chat = new TypedChat({ history: ['newest\nof two lines', 'older'] })
    chat.type('\u001b[A')
    await chat.screen.until('› newest\n  of two lines')
    chat.type('\u001b[A\u001b[A')
    expect(await chat.screen.until('› older')).toBe(true)
  })

  it('moves the cursor between its own lines before it walks through the history', async () => {
    const chat = new TypedChat({ history: ['older'] })
    chat.type('long line\\\rend\u001b[A!')
    await chat.screen.until('› lon!g line\n  end')
    chat.type('\u001b[B?')
    expect(await chat.screen.until('› lon!g line\n  end?')).toBe(true)
  })

  it('completes slash commands and files with Tab', async () => {
    const chat = new TypedChat()
    chat.type('/perm\t')
    await chat.screen.until(/^› \/permissions$/m)
    chat.type('\u0015look at @tsconfig.b\t')
    await chat.screen.until(/^› look at @tsconfig.build.json$/m)
    chat.type('\u0015@tsconfig')
    expect(await chat.screen.until(/› @tsconfig\n› @tsconfig\.build\.json\n {2}@tsconfig\.json\n/)).toBe(true)
  })

  it('is longer than the terminal is wide, with the cursor where it is typed', async () => {
    const chat = new TypedChat({ columns: 20, rows: 8 })
    chat.type('abcdefghijklmnopqrstuvwxyz')
    await chat.screen.until('› abcdefghijklmnopq\n  rstuvwxyz')
    expect(chat.screen.cursor).toEqual([1, 11])
    chat.type('\u001b[H-')
    await chat.screen.until('› -abcdefghijklmnop\n  qrstuvwxyz')
    expect(chat.screen.cursor).toEqual([0, 3])
  })

  it('shows control characters as a sign', async () => {
    const chat = new TypedChat()
    chat.type('\u001b[200~a\u001b[31mb\u0007\u001b[201~')
    expect(await chat.screen.until('› a·[31mb·')).toBe(true)
  })
})

describe('the menu below the line', () => {
  it('shows commands with what they do, fewer as more is typed, and none that does not fit', async () => {
    const chat = new TypedChat({ columns: 80 })
    chat.type('/')
    await chat.screen.until(/› \/\n› \/agents +show the agent and its subagents\n {2}\/context .*\n(?:.*\n)*.* more$/)
    chat.type('p')
    await chat.screen.until(/› \/p\n› \/permissions .*\n {2}\/plan +switch plan mode on or off$/)
    chat.type('x')
    await chat.screen.until(/› \/px$/)
    chat.type('\u007f')
    expect(await chat.screen.until(/› \/p\n› \/permissions/)).toBe(true)
  })

  it('marks with the arrow keys; Tab puts the marked one into the line, Enter sends a command that takes nothing', async () => {
    const chat = new TypedChat()
    chat.type('/p\u001b[B')
    await chat.screen.until(/\n› \/plan /)
    chat.type('\t')
    await chat.screen.until(/^› \/plan$/m)
    chat.type('\u0015/p\u001b[A\r')
    await expect.poll(() => chat.submitted.length).toBeGreaterThan(0)
    chat.type('/mod\r')
    await chat.screen.until(/^› \/model$/m)
    chat.type('\r')
    await expect.poll(() => chat.submitted.length).toBeGreaterThan(1)
    expect(chat.submitted).toEqual(['/plan', '/model '])
  })

  it.for([6, 7, 8, 9, 20])('has the marked item on a terminal of %d rows', async (rows) => {
    const chat = new TypedChat({ rows })
    chat.type('/\u001b[A')
    expect(await chat.screen.until(/^› \/\n(?: {2}\/.*\n)*› \/q {2}.*$/m)).toBe(true)
  })

  it('says how many are left where there is room for it', async () => {
    const chat = new TypedChat({ rows: 9 })
    chat.type('/')
    await chat.screen.until(/^› \/\n› \/agents .*\n(?: {2}\/.*\n){2} {2}… \d+ more$/m)
    const low = new TypedChat({ rows: 6 })
    low.type('/')
    expect(await low.screen.until(/^› \/\n› \/agents .*$/m)).toBe(true)
  })

  it('is closed by Escape, which does nothing else, until something else is typed', async () => {
    const chat = new TypedChat()
    chat.type('/st')
    await chat.screen.until('› /stats')
    chat.type('\u001b')
    await chat.screen.until(/› \/st$/)
    chat.type('a\r')
    await expect.poll(() => chat.submitted.length).toBeGreaterThan(0)
    expect(chat.keys).toEqual([])
    expect(chat.submitted).toEqual(['/sta'])
  })

  it('leaves a text that is written out as it is', async () => {
    const cwd = await tempFolder({ 'notes.md': '', 'notes.md.old': '', 'src/a.ts': '' })
    const chat = new TypedChat({ cwd })
    const texts = ['Read @notes.md', 'Look into @src', '/q', 'to ada@src']
    for (const text of texts) {
      chat.type(`${text}\r`)
      await expect.poll(() => chat.submitted).toContain(text)
    }
    expect(chat.submitted).toEqual(texts)
  })

  it('offers files of the project without ignored ones, by any part of their path', async () => {
    const files = {
      '.gitignore': 'dist/\n*.log\n',
      'src/chat/line.ts': '',
      'line.log': '',
      'dist/line.js': '',
      'deep/outline.md': '',
    }
    const root = await tempFolder({ ...files, '.git/HEAD': 'ref: refs/heads/main\n' })
    const chat = new TypedChat({ cwd: root })
    chat.type('Read @line')
    await chat.screen.until(/› Read @line\n› @src\/chat\/line\.ts\n {2}@deep\/outline\.md$/)
    chat.type('\u001b[B\r')
    await chat.screen.until(/^› Read @deep\/outline\.md$/m)
    chat.type('and @sr\t')
    await chat.screen.until(/@src\/\n› @src\/chat\/\n {2}@src\/chat\/line\.ts$/)
    chat.type('\r')
    await chat.screen.until(/@src\/chat\/\n› @src\/chat\/line\.ts$/)
    chat.type('\t\r')
    await expect.poll(() => chat.submitted.length).toBeGreaterThan(0)
    expect(chat.submitted).toEqual(['Read @deep/outline.md and @src/chat/line.ts '])
  })

  it('offers a path with blanks in quotes, folder by folder too', async () => {
    const root = await tempFolder({ 'my notes/last week.md': '', 'my notes/now.md': '' })
    const chat = new TypedChat({ cwd: root })
    chat.type('Read @last')
    await chat.screen.until(/› @"my notes\/last week\.md"$/)
    chat.type('\t')
    await chat.screen.until(/^› Read @"my notes\/last week\.md"$/)
    chat.type('and @my\t')
    await chat.screen.until(/and @"my notes\/\n› @"my notes\/last week\.md"\n {2}@"my notes\/now\.md"$/)
    chat.type('no')
    await chat.screen.until(/\/no\n› @"my notes\/now\.md"$/)
    chat.type('\r')
    await chat.screen.until(/and @"my notes\/now\.md"$/)
    chat.type('\r')
    await expect.poll(() => chat.submitted.length).toBeGreaterThan(0)
    expect(chat.submitted).toEqual(['Read @"my notes/last week.md" and @"my notes/now.md" '])
  })

  it('offers files of a folder within a repository', async () => {
    const root = await tempFolder({ 'src/chat/line.ts': '', '.git/HEAD': 'ref: refs/heads/main\n' })
    const below = new TypedChat({ cwd: join(root, 'src') })
    below.type('@')
    expect(await below.screen.until(/› @\n› @chat\/$/)).toBe(true)
  })

  it('is not there while something is asked', async () => {
    const chat = new TypedChat()
    void chat.ui.ask(call, new AbortController().signal)
    await chat.screen.until(/\?$/)
    chat.type('/')
    await chat.screen.until(/\? \/$/)
    chat.type('\t\u0012')
    expect(await chat.screen.until(/\? \/$/)).toBe(true)
  })
})

describe('Ctrl-R', () => {
  const history = ['fix the parser\nand its test', 'run the tests', 'Read the Docs']

  it('finds what was typed in this chat and earlier ones, the newest first', async () => {
    const chat = new TypedChat({ history })
    chat.type('draft of test')
    chat.type('\r')
    await expect.poll(() => chat.submitted).toHaveLength(1)
    chat.type('half')
    chat.type('\u0012')
    await chat.screen.until(
      /search ›\n› draft of test\n {2}fix the parser ⏎ and its test\n {2}run the tests\n {2}Read the Docs$/,
    )
    chat.type('THE ')
    await chat.screen.until(/search › THE\n› fix the parser/)
    chat.type('\u0012\u001b[B\r')
    await chat.screen.until(/^› Read the Docs$/m)
    chat.type('\r')
    await expect.poll(() => chat.submitted).toHaveLength(2)
    expect(chat.submitted).toEqual(['draft of test', 'Read the Docs'])
  })

  it.for<[name: string, key: string]>([
    ['Escape', '\u001b'],
    ['Ctrl-C', '\u0003'],
  ])('gives back what was being typed with %s', async ([, key]) => {
    const chat = new TypedChat({ history })
    chat.type('half\u0012nothing of it')
    await chat.screen.until(/search › nothing of it\n {2}nothing that was typed has this in it$/)
    chat.type(key)
    await chat.screen.until(/^› half$/m)
    expect(chat.keys).toEqual([])
  })
})

describe('Ctrl-C', () => {
  it('clears the line, and at an empty one leaves when it is pressed again', async () => {
    const chat = new TypedChat()
    chat.type('something\u0003')
    await chat.screen.until(/^›$/m)
    chat.type('\u0003')
    await chat.screen.until('Press Ctrl-C again to leave.')
    expect(chat.keys).toEqual([])
    chat.type('\u0003')
    await chat.screen.until(/^›$/m)
    expect(chat.keys).toEqual(['interrupt'])
  })

  it('leaves at no press before which something was typed', async () => {
    const chat = new TypedChat()
    chat.type('\u0003')
    await chat.screen.until('Press Ctrl-C again to leave.')
    chat.type('\u001b[200~some\ntext\u001b[201~')
    await chat.screen.until('› some\n  text')
    chat.type('\u0003\u0003')
    await chat.screen.until(/again to leave\.\nPress Ctrl-C again to leave\./)
    expect(chat.keys).toEqual([])
  })

  it('interrupts at once while the agent works', () => {
    const chat = new TypedChat()
    chat.ui.work('thinking')
    chat.type('half a line\u0003')
    expect(chat.keys).toEqual(['interrupt'])
  })
})

describe('a reply', () => {
  it('appears above the line while it arrives, and what is being typed stays', async () => {
    const chat = new TypedChat()
    chat.type('typing')
    chat.ui.work('thinking')
    chat.ui.reply('Some **text** that')
    await chat.screen.until(/^Some text that\n\n. thinking .*\n› typing$/m)
    chat.ui.reply(' goes on.\n\n```\na = 1\n```')
    await chat.screen.until(/goes on\.\n\n {2}a = 1/)
    await chat.ui.replyEnd()
    chat.ui.work(undefined)
    expect(await chat.screen.until(/^Some text that goes on\.\n\n {2}a = 1\n\n› typing$/)).toBe(true)
  })

  it('is whole when it is longer than the terminal is high, each line once', async () => {
    const chat = new TypedChat({ columns: 20, rows: 6 })
    const items = Array.from({ length: 40 }, (_, index) => `- item ${index}`)
    for (const item of items) chat.ui.reply(`${item}\n`)
    await chat.screen.until('• item 39')
    await chat.ui.replyEnd()
    await chat.screen.until(/^• item 0\n[^]*• item 39\n\n›/)
    expect(chat.screen.lines.filter((line) => line.startsWith('•'))).toEqual(
      items.map((item) => item.replace('-', '•')),
    )
  })

  it('that begins while another one ends is there before what is said behind it', async () => {
    const chat = new TypedChat()
    chat.ui.reply('One.')
    await chat.ui.replyEnd()
    // As a call that has ended meanwhile does.
    const ending = chat.ui.replyEnd()
    chat.ui.reply('Two.')
    await ending
    await Promise.all([chat.ui.replyEnd(), chat.ui.replyEnd()])
    chat.ui.say('1 step')
    expect(await chat.screen.until(/^One\.\n\nTwo\.\n\n1 step\n\n›$/)).toBe(true)
  })

  it('that is cut off is taken from the screen, and says so', async () => {
    const chat = new TypedChat()
    chat.ui.reply('Half an ans')
    await chat.screen.until('Half an ans')
    await chat.ui.replyDiscarded()
    await chat.screen.until('(This reply broke off and does not count.)')
    expect(chat.screen.text).not.toContain('Half an ans')
  })

  it('sends no control codes of the model to the terminal', async () => {
    const chat = new TypedChat()
    chat.ui.reply('a\u001b[2Jb\u0007c')
    await chat.ui.replyEnd()
    expect(await chat.screen.until('abc')).toBe(true)
  })

  it('is legible on a terminal that becomes narrower and wider while it arrives', async () => {
    const chat = new TypedChat({ columns: 60, rows: 20 })
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`)
    chat.ui.work('thinking')
    for (const [index, word] of words.entries()) {
      chat.ui.reply(`${word} `)
      if (index === 20) {
        await chat.screen.until('word20')
        chat.resize(20, 10)
      }
      if (index === 40) {
        await chat.screen.until('word40')
        chat.resize(80, 20)
      }
    }
    await chat.ui.replyEnd()
    chat.ui.work(undefined)
    await chat.screen.until(/word59\n\n›/)
    expect(chat.screen.text.match(/word\d+/g)).toEqual(words)
  })
})

describe('a terminal that is not UTF-8', () => {
  it('gets ASCII only', async () => {
    const chat = new TypedChat({ look: { ...plainLook, isAscii: true } })
    chat.ui.reply('- “Größe” → 3 × 木')
    chat.type('ä')
    await chat.ui.replyEnd()
    await chat.screen.until('> a')
    // oxlint-disable-next-line no-control-regex
    expect(chat.screen.text).toMatch(/^[\u0000-\u007f]*$/)
    expect(chat.screen.text).toContain('* "Grosse" -> 3 x ?')
  })
})

describe('a question about a call', () => {
  it('is shown whole with its answers, and Enter alone is no', async () => {
    const chat = new TypedChat({ columns: 80 })
    const answer = chat.ui.ask({ ...call, commandStart: 'npm test' }, new AbortController().signal)
    await chat.screen.until('Enter: no\n?')
    expect(chat.screen.text).toContain('bash asks\n  npm test\n  reason: by the settings for bash\n')
    chat.type('\r')
    expect(await answer).toEqual({ approved: false })
  })

  it('breaks its answers between two of them, however narrow the terminal is', async () => {
    const chat = new TypedChat({ columns: 44 })
    const answer = chat.ui.ask({ ...call, ...ofCommand }, new AbortController().signal)
    await chat.screen.until('Enter: no\n?')
    const rows = ['y yes, once', 'n no (words behind it go to the agent)', 'a this tool, for this chat']
    expect(chat.screen.text).toContain(
      [
        ...rows,
        'c commands that begin "npm test"',
        'always like c, in all chats of this folder',
        's stop the turn · Enter: no',
        '?',
      ].join('\n'),
    )
    chat.type('\r')
    await answer
  })

  it.for<[string, object]>([
    ['y', { approved: true }],
    ['always', { approved: true, remember: 'command', isAlways: true }],
    ['a', { approved: true, remember: 'session' }],
    ['c', { approved: true, remember: 'command' }],
    ['s', { approved: false, stopTurn: true }],
    ['n', { approved: false }],
    ['no, use npm ci', { approved: false, reason: 'use npm ci' }],
    ['\u001b', { approved: false }],
  ])('takes %j', async ([typed, expected]) => {
    const chat = new TypedChat({ columns: 80 })
    const answer = chat.ui.ask({ ...call, ...ofCommand }, new AbortController().signal)
    await chat.screen.until('Enter: no\n?')
    chat.type(typed === '\u001b' ? typed : `${typed}\r`)
    expect(await answer).toEqual(expected)
  })

  it('about a tool that is no shell offers to allow it always in such places', async () => {
    const chat = new TypedChat({ columns: 80 })
    const asked = { tool: 'say', arguments: {}, mayRemember: true, rule: { places: ['project'] as const } }
    const answer = chat.ui.ask(asked, new AbortController().signal)
    await chat.screen.until('Enter: no\n?')
    expect(chat.screen.text).toContain('always like a, in all chats of this folder')
    chat.type('always\r')
    expect(await answer).toEqual({ approved: true, remember: 'session', isAlways: true })
    await chat.screen.until('yes, and this tool in all chats of this folder')
  })

  it('takes nothing that it does not offer, and asks on', async () => {
    const chat = new TypedChat()
    const answer = chat.ui.ask({ ...call, mayRemember: false }, new AbortController().signal)
    await chat.screen.until('Enter: no\n?')
    expect(chat.screen.text).not.toContain('this tool, for this chat')
    for (const typed of ['a', 'c', 'always', 'nothing', 'yes please']) {
      chat.type(`${typed}\r`)
      await chat.screen.until(`'${typed}' is none of the answers.`)
    }
    chat.type('y\r')
    expect(await answer).toEqual({ approved: true })
    expect(chat.submitted).toEqual([])
  })

  it('stays open while slash commands are carried out beside it', async () => {
    const chat = new TypedChat()
    const answer = chat.ui.ask(call, new AbortController().signal)
    await chat.screen.until('Enter: no\n?')
    const asides = ['/stats', '/sttats', '/permissions bash allow']
    for (const [at, typed] of asides.entries()) {
      chat.type(`${typed}\r`)
      await expect.poll(() => chat.asides).toHaveLength(at + 1)
    }
    chat.type('/etc/hosts\r')
    await chat.screen.until("'/etc/hosts' is none of the answers.")
    expect(chat.asides).toEqual(asides)
    chat.type('y\r')
    expect(await answer).toEqual({ approved: true })
    expect(chat.submitted).toEqual([])
  })

  it('puts back what was being typed, and keeps answers out of the history', async () => {
    const chat = new TypedChat()
    chat.type('a message')
    await chat.screen.until('› a message')
    const answer = chat.ui.ask(call, new AbortController().signal)
    await chat.screen.until('Enter: no\n?')
    chat.type('y\r')
    await answer
    await chat.screen.until('› a message')
    chat.type('\u0015\u001b[A')
    expect(await chat.screen.until(/^›$/m)).toBe(true)
  })

  it('shows the rest of a long body on demand', async () => {
    const chat = new TypedChat({ rows: 60 })
    const command = Array.from({ length: 50 }, (_, index) => `echo ${index}`).join('\n')
    const answer = chat.ui.ask({ ...call, arguments: { command } }, new AbortController().signal)
    await chat.screen.until('… 10 more lines: v shows all of it')
    expect(chat.screen.text).not.toContain('echo 49')
    chat.type('v\r')
    await chat.screen.until('echo 49')
    chat.type('\r')
    await answer
  })

  it('is no when the call is cancelled', async () => {
    const chat = new TypedChat()
    const controller = new AbortController()
    const answer = chat.ui.ask(call, controller.signal)
    await chat.screen.until('Enter: no\n?')
    controller.abort()
    expect(await answer).toEqual({ approved: false })
    await chat.screen.until(/^›$/m)
  })
})
